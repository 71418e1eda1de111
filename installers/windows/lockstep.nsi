; Windows installer, for one user, without administrator rights.
; Built by installers/windows/build.sh, on any system with NSIS 3.
; It holds no NVIDIA file: the CUDA compiler comes from `lockstep setup`.
; The program is for 64 bits, and so is this.
Target amd64-unicode
!ifndef BINARY
  !define BINARY "..\..\target\release\lockstep.exe"
!endif
!ifndef LIBRARY
  !define LIBRARY "..\..\target\release\lockstep_cuda.dll"
!endif
!ifndef VERSION
  !define VERSION "0.1.0"
!endif
!ifndef OUT
  !define OUT "lockstep-${VERSION}-setup.exe"
!endif

Name "Lockstep ${VERSION}"
OutFile "${OUT}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\Lockstep"
InstallDirRegKey HKCU "Software\Lockstep" "InstallDir"
SetCompressor /SOLID lzma

!include "MUI2.nsh"
!insertmacro MUI_PAGE_LICENSE "..\..\LICENSE-MIT"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Section "Lockstep"
  SetOutPath "$INSTDIR"
  File "/oname=lockstep.exe" "${BINARY}"
  ; What `lockstep exec` gives programs as their driver.
  File "/oname=lockstep_cuda.dll" "${LIBRARY}"
  File "..\..\README.md"
  File "..\..\LICENSE-MIT"
  File "..\..\assets\fonts\UFL.txt"
  File "..\..\assets\fonts\Phosphor-LICENSE.txt"
  File "..\..\LICENSE-APACHE"
!ifdef THIRD_PARTY
  File "/oname=THIRD-PARTY.txt" "${THIRD_PARTY}"
!endif
  WriteRegStr HKCU "Software\Lockstep" "InstallDir" "$INSTDIR"
  CreateShortcut "$SMPROGRAMS\Lockstep.lnk" "$INSTDIR\lockstep.exe"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  !define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Lockstep"
  WriteRegStr HKCU "${KEY}" "DisplayName" "Lockstep"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "Publisher" "Lockstep developers"
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
SectionEnd

; The learner's texts and progress in %APPDATA%\lockstep stay.
Section "Uninstall"
  Delete "$INSTDIR\lockstep.exe"
  Delete "$INSTDIR\lockstep_cuda.dll"
  Delete "$INSTDIR\README.md"
  Delete "$INSTDIR\LICENSE-MIT"
  Delete "$INSTDIR\UFL.txt"
  Delete "$INSTDIR\Phosphor-LICENSE.txt"
  Delete "$INSTDIR\LICENSE-APACHE"
  Delete "$INSTDIR\THIRD-PARTY.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Lockstep.lnk"
  DeleteRegKey HKCU "${KEY}"
  DeleteRegKey HKCU "Software\Lockstep"
SectionEnd
