//! Assertions that hold for any input. Fuzz targets call them, and `tests/all/corpus/` replays the
//! corpora.

pub mod differential;
pub mod gamespy1;
pub mod gamespy4;
#[cfg(feature = "json")]
pub mod json;
pub mod lists;
pub mod quake3;
pub mod quake3_client;
pub mod quake3_huffman;
pub mod quake3_master;
pub mod script;
pub mod structured;
pub mod ut2004;
