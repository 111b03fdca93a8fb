//! Whether anybody still reads what is printed.

/// Waits until the other end of standard output is closed.
#[cfg(target_os = "linux")]
pub(crate) async fn closed() {
    use rustix::event::{PollFd, PollFlags, poll};

    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let stdout = std::io::stdout();
        // Nothing is asked for: an error on the descriptor is always reported, and a pipe without a reader is one.
        let mut descriptors = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut descriptors, None) == Err(rustix::io::Errno::INTR) {}
        if descriptors[0].revents().contains(PollFlags::ERR) {
            let _ = sender.send(());
        }
    });
    if receiver.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Elsewhere the next write notices it.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn closed() {
    std::future::pending().await
}
