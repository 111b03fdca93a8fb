//! Lists of servers, in each form.

mod cod4x;
mod gamespy1;
mod gamespy2;
mod net;
mod passes;
mod ut2004;
