//! Objects of the program that live as long as the graphs that use them.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};

use super::GRAPHS;
use crate::abi::*;
use crate::process::{self, lock};

type Destroy = unsafe extern "C" fn(*mut c_void);

/// What the program wants to be told of once nobody refers to it any more: neither the program nor a graph.
pub struct UserObject {
    handle: Handle,
    data: usize,
    destroy: Destroy,
}

impl Drop for UserObject {
    fn drop(&mut self) {
        // SAFETY: the program gave this function for this pointer, and it is called once.
        unsafe { (self.destroy)(self.data as *mut c_void) };
    }
}

/// Objects to which the program itself refers, and how often.
type Owned = Mutex<HashMap<Handle, (Arc<UserObject>, u32)>>;

fn owned() -> &'static Owned {
    static OWNED: OnceLock<Owned> = OnceLock::new();
    OWNED.get_or_init(Mutex::default)
}

/// Takes references from the program. What becomes of the object is decided with no lock held, for it may call back.
fn release(handle: Handle, count: u32) -> Answer {
    let mut objects = lock(owned());
    let entry = objects.get_mut(&handle).ok_or(INVALID_VALUE)?;
    entry.1 = entry.1.checked_sub(count).filter(|_| count > 0).ok_or(INVALID_VALUE)?;
    let last = if entry.1 == 0 { objects.remove(&handle) } else { None };
    drop(objects);
    drop(last);
    Ok(())
}

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which CUDA demands.
const NO_DESTRUCTOR_SYNC: u32 = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`: the program's references become the graph's.
const MOVE: u32 = 1;

api! {
    fn cuUserObjectCreate(out: *mut Handle, data: *mut c_void, destroy: Option<Destroy>, count: u32, flags: u32) {
        process::initialised()?;
        let destroy = destroy.ok_or(INVALID_VALUE)?;
        if out.is_null() || count == 0 || i32::try_from(count).is_err() || flags != NO_DESTRUCTOR_SYNC {
            return Err(INVALID_VALUE);
        }
        let handle = super::next_handle();
        let object = Arc::new(UserObject { handle, data: data as usize, destroy });
        lock(owned()).insert(handle, (object, count));
        put(out, handle)
    }
    fn cuUserObjectRetain(object: Handle, count: u32) {
        let mut objects = lock(owned());
        let entry = objects.get_mut(&object).ok_or(INVALID_VALUE)?;
        entry.1 = entry.1.checked_add(count).filter(|_| count > 0).ok_or(INVALID_VALUE)?;
        Ok(())
    }
    fn cuUserObjectRelease(object: Handle, count: u32) {
        release(object, count)
    }
    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) {
        let graph = GRAPHS.get(graph)?;
        if count == 0 || flags & !MOVE != 0 {
            return Err(INVALID_VALUE);
        }
        let held = lock(owned()).get(&object).map(|entry| (entry.0.clone(), entry.1));
        let (kept, references) = held.ok_or(INVALID_VALUE)?;
        if flags & MOVE != 0 && references < count {
            return Err(INVALID_VALUE);
        }
        lock(&graph.objects).extend((0..count).map(|_| kept.clone()));
        drop(kept);
        if flags & MOVE != 0 { release(object, count) } else { Ok(()) }
    }
    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
        let graph = GRAPHS.get(graph)?;
        let mut objects = lock(&graph.objects);
        let (gone, kept): (Vec<_>, Vec<_>) = objects.iter().cloned().partition(|held| held.handle == object);
        let left = gone.len().checked_sub(count as usize).filter(|_| count > 0).ok_or(INVALID_VALUE)?;
        *objects = kept;
        objects.extend(gone.iter().take(left).cloned());
        drop(objects);
        drop(gone);
        Ok(())
    }
}
