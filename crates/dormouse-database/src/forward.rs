//! Forwards the methods that every layer of storage passes on unchanged.

/// Implements the locking and closing methods of [`StorageBackend`](redb::StorageBackend). They call the same methods
/// of the backend in the field `$backend`.
///
/// The default methods of the trait lock nothing. A layer that does not forward them would let two processes write to
/// the same file.
macro_rules! forward_locks {
    ($backend:ident) => {
        fn close(&self) -> std::io::Result<()> {
            self.$backend.close()
        }

        fn try_lock_range(
            &self,
            start: std::ops::Bound<u64>,
            end: std::ops::Bound<u64>,
        ) -> Result<bool, redb::BackendError> {
            self.$backend.try_lock_range(start, end)
        }

        fn try_lock_shared_range(
            &self,
            start: std::ops::Bound<u64>,
            end: std::ops::Bound<u64>,
        ) -> Result<bool, redb::BackendError> {
            self.$backend.try_lock_shared_range(start, end)
        }

        fn lock_range(
            &self,
            start: std::ops::Bound<u64>,
            end: std::ops::Bound<u64>,
        ) -> Result<(), redb::BackendError> {
            self.$backend.lock_range(start, end)
        }

        fn lock_shared_range(
            &self,
            start: std::ops::Bound<u64>,
            end: std::ops::Bound<u64>,
        ) -> Result<(), redb::BackendError> {
            self.$backend.lock_shared_range(start, end)
        }

        fn unlock_range(
            &self,
            start: std::ops::Bound<u64>,
            end: std::ops::Bound<u64>,
        ) -> Result<(), redb::BackendError> {
            self.$backend.unlock_range(start, end)
        }

        fn query_lock_range(
            &self,
            start: std::ops::Bound<u64>,
            end: std::ops::Bound<u64>,
        ) -> Result<bool, redb::BackendError> {
            self.$backend.query_lock_range(start, end)
        }
    };
}

pub(crate) use forward_locks;
