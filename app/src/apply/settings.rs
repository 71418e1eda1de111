//! Theme, size, devices and the settings page.

use crate::effect::Effect;
use crate::state::{DeviceKey, Dialog, LabDevices, LabKey, SettingsDraft, State, ToastKind};
use curriculum::store::{Offered, Remote, Settings, ThemeChoice};
use std::path::PathBuf;

impl State {
    pub(super) fn set_theme(&mut self, theme: ThemeChoice, effects: &mut Vec<Effect>) {
        self.settings.theme = theme;
        effects.extend([Effect::ApplyLook, Effect::SaveSettings]);
    }

    pub(super) fn zoom(&mut self, scale: f32, effects: &mut Vec<Effect>) {
        self.settings.scale = ((scale * 10.0).round() / 10.0).clamp(0.5, 4.0);
        effects.extend([Effect::ApplyLook, Effect::SaveSettings]);
    }

    pub(super) fn open_settings(&mut self) {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let draft = SettingsDraft {
            nvrtc: path(&self.settings.nvrtc),
            content: path(&self.settings.content),
            python: path(&self.settings.python),
            remote_name: String::new(),
            remote_command: String::new(),
            problem: None,
            settings: self.settings.clone(),
        };
        self.dialog = Some(Dialog::Settings(Box::new(draft)));
    }

    pub(super) fn save_settings(&mut self, effects: &mut Vec<Effect>) {
        let Some(Dialog::Settings(mut draft)) = self.dialog.take() else { return };
        if let Err(problem) = take_remote(&mut draft) {
            draft.problem = Some(problem);
            self.dialog = Some(Dialog::Settings(draft));
            return;
        }
        let path = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(PathBuf::from);
        let mut settings = draft.settings.clone();
        settings.nvrtc = path(&draft.nvrtc);
        settings.content = path(&draft.content);
        settings.python = path(&draft.python);
        self.use_settings(settings, effects);
        self.toast(ToastKind::Good, "Settings saved");
    }

    fn use_settings(&mut self, settings: Settings, effects: &mut Vec<Effect>) {
        let old = std::mem::replace(&mut self.settings, settings);
        if old.nvrtc != self.settings.nvrtc {
            effects.extend([Effect::RestartLab, Effect::LookForCompiler]);
        }
        if old.content != self.settings.content {
            effects.push(Effect::LoadCourse(self.settings.content.clone()));
        }
        self.devices.labs.retain(|lab, _| match lab {
            LabKey::Here => true,
            LabKey::Remote(name) => self.settings.remotes.iter().any(|remote| remote.name == *name),
        });
        for remote in &self.settings.remotes {
            self.devices.labs.entry(LabKey::Remote(remote.name.clone())).or_default();
        }
        if !self.devices.labs.contains_key(&self.devices.picked.lab) {
            self.devices.picked = DeviceKey::emulator();
        }
        effects.extend([Effect::ApplyLook, Effect::SaveSettings]);
    }

    pub(super) fn want_program(&mut self, index: usize, wanted: bool) {
        if let Some(Dialog::OfferPrograms(offered)) = &mut self.dialog
            && let Some((_, want)) = offered.get_mut(index)
        {
            *want = wanted;
        }
    }

    /// Takes the wanted settings of an imported state, as if they had been typed.
    pub(super) fn take_programs(&mut self, offered: &[(Offered, bool)], effects: &mut Vec<Effect>) {
        let mut settings = self.settings.clone();
        let sound = offered.iter().filter(|(_, wanted)| *wanted).all(|(offered, _)| settings.take(offered));
        self.use_settings(settings, effects);
        match sound {
            true => self.toast(ToastKind::Good, "Settings saved"),
            false => self.toast(ToastKind::Bad, "One setting in the file is not valid and was skipped"),
        }
    }

    pub(super) fn pick_device(&mut self, key: DeviceKey, effects: &mut Vec<Effect>) {
        if let LabKey::Remote(name) = &key.lab
            && let Some(remote) = self.settings.remotes.iter().find(|remote| remote.name == *name)
        {
            let lab: &mut LabDevices = self.devices.labs.entry(key.lab.clone()).or_default();
            if lab.devices.value().is_none() && !lab.devices.is_pending() {
                lab.devices.begin();
                effects.push(Effect::Connect { lab: key.lab.clone(), remote: Some(remote.command.clone()) });
                effects.push(Effect::ListDevices(key.lab.clone()));
            }
        }
        self.devices.picked = key;
        self.settings.device = Some(self.devices.name(&self.devices.picked));
        // Another architecture may give other messages.
        if let Some(desk) = self.desk_mut() {
            desk.compile_at_s = Some(0.0);
        }
        effects.push(Effect::SaveSettings);
    }
}

/// Adds the remote machine whose name and command stand in the last row.
fn take_remote(draft: &mut SettingsDraft) -> Result<(), String> {
    let (name, command) = (draft.remote_name.trim(), draft.remote_command.trim());
    if name.is_empty() && command.is_empty() {
        return Ok(());
    }
    if name.is_empty() || command.is_empty() {
        return Err("A remote machine needs a name and the command that starts its worker".to_owned());
    }
    if draft.settings.remotes.iter().any(|remote| remote.name == name) {
        return Err(format!("There is a remote machine named {name} already"));
    }
    draft.settings.remotes.push(Remote { name: name.to_owned(), command: command.to_owned() });
    draft.remote_name.clear();
    draft.remote_command.clear();
    Ok(())
}
