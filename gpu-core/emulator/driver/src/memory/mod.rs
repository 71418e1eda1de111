//! Memory of every kind, and what lies in it.

pub mod allocation;
pub mod arrays;
pub mod boxes;
pub mod copy;
pub mod managed;
pub mod of_graphs;
pub mod pointers;
pub mod pool;
pub mod tensor_map;
mod tensor_map_im2col;
pub mod textures;
pub mod vmm;
pub mod vmm_pages;
pub mod words;
