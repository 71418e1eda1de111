//! A loaded module: decoded instructions, kernels and variables.

use std::sync::Arc;

use crate::described::{KernelInfo, LoadError};
use crate::exec::image::{GlobalVariable, Image};
use crate::fast::Fast;
use crate::features::in_forms;
use crate::memory::Memory;

/// PTX made ready to run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) image: Arc<Image>,
}

impl Module {
    /// Parses and decodes PTX text.
    ///
    /// # Errors
    /// Lists every problem of the module at once: syntax, unknown names, unsupported instructions.
    pub fn load(ptx: &str) -> Result<Module, LoadError> {
        Module::load_with(ptx, Fast::default())
    }

    /// The same with instructions in the forms that `fast` says.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_with(ptx: &str, fast: Fast) -> Result<Module, LoadError> {
        in_forms(fast, || crate::build::module::load(ptx)).map(|image| Module { image: Arc::new(image) })
    }

    /// The `.target`, for example `sm_90a`.
    pub fn target(&self) -> &str {
        &self.image.target
    }

    /// Whether its code may wait for what others write: it loads from memory with an ordering, or `volatile`.
    pub fn listens(&self) -> bool {
        let waits = |text: &str| {
            let load = ["ld.volatile", "ld.relaxed", "ld.acquire"].iter().any(|start| text.starts_with(start));
            let atomic = text.contains(".acquire") || text.contains(".acq_rel");
            (load || atomic) && !text.contains(".shared")
        };
        self.image.texts.iter().any(waits)
    }

    /// Names of the `__device__` variables that hold something else than when the module was loaded: what a launch leaves in
    /// them, the next one finds.
    pub fn changed_variables(&self, memory: &Memory) -> Vec<String> {
        let changed = |variable: &&GlobalVariable| {
            let mut now = vec![0; variable.bytes as usize];
            let (first, rest) = now.split_at_mut(variable.init.len());
            let read = memory.read(variable.address, first).is_ok()
                && memory.read(variable.address + first.len() as u64, rest).is_ok();
            read && (*first != variable.init[..] || rest.iter().any(|byte| *byte != 0))
        };
        let kept = self.image.variables.iter().filter(|variable| !variable.read_only);
        kept.filter(changed).map(|variable| variable.name.clone()).collect()
    }

    /// Address and size of the variables that the host shares (`__managed__`).
    pub fn managed_variables(&self) -> Vec<(u64, u64)> {
        let managed = self.image.variables.iter().filter(|variable| variable.managed);
        managed.map(|variable| (variable.address, variable.bytes)).collect()
    }

    pub fn kernels(&self) -> &[KernelInfo] {
        &self.image.kernels
    }

    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.image.kernels.iter().find(|kernel| kernel.name == name)
    }
}

impl Memory {
    /// Address and size of a `__device__` or `__constant__` variable, by its name in the PTX.
    pub fn symbol(&mut self, module: &Module, name: &str) -> Option<(u64, u64)> {
        self.instantiate(module);
        let variable = module.image.variables.iter().find(|variable| variable.symbol == name)?;
        Some((variable.address, variable.bytes))
    }

    /// Has a module's `__managed__` variables in memory of the host at the same addresses.
    ///
    /// # Safety
    /// As for [`Memory::map_host`], for each of [`Module::managed_variables`] at its address.
    pub unsafe fn share_variables(&mut self, module: &Module) {
        self.instantiate(module);
        for (address, bytes) in module.managed_variables() {
            // SAFETY: the caller says so.
            unsafe { self.share_variable(address, bytes) };
        }
    }

    /// Brings a module's variables into this memory, with their initial values, once.
    pub(crate) fn instantiate(&mut self, module: &Module) {
        if self.takes_in(module.image.id) {
            for variable in &module.image.variables {
                let GlobalVariable { name, address, bytes, init, read_only, .. } = variable;
                self.put_variable(name, *address, *bytes, init, *read_only);
            }
        }
    }
}
