//! Writes the methods of a generated service. Their signature is that of an `async fn` without the syntax.

/// Defines methods of a generated service. `= answer` names the method of `Self` that gets the request; a method
/// without it is refused.
macro_rules! rpcs {
    ($($name:ident($request:ty) -> $response:ty $(= $answer:ident)?;)*) => {$(
        fn $name<'life0, 'async_trait>(
            &'life0 self,
            request: tonic::Request<$request>,
        ) -> std::pin::Pin<Box<
            dyn Future<Output = Result<tonic::Response<$response>, tonic::Status>> + Send + 'async_trait,
        >>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            Box::pin(async move {
                let _call = self.admit(stringify!($name), request.metadata()).await?;
                $crate::rpc::rpcs!(@answer self, request, $name $(, $answer)?)
            })
        }
    )*};
    (@answer $self:ident, $request:ident, $name:ident, $answer:ident) => {
        $self.$answer($request.into_inner()).await.map(tonic::Response::new)
    };
    (@answer $self:ident, $request:ident, $name:ident) => {{
        drop($request);
        Err(tonic::Status::unimplemented(concat!("the double has no ", stringify!($name))))
    }};
}

pub(crate) use rpcs;
