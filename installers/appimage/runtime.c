/* The head of an AppImage of type 2: shows the squashfs that follows this program as a folder and starts its AppRun.
 *
 * `appimagetool` brings such a head, and no package registry has it; this one is linked, statically, from what Debian
 * packages: libsquashfuse reads the image, libfuse3 mounts it. Where nothing can be mounted (no /dev/fuse, no fusermount3,
 * as in many containers) the image is unpacked into a temporary folder instead, which takes a second and is said.
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 32
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <squashfuse/ll.h>
#include <squashfuse/squashfuse.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the library, in none of its headers. */
extern sqfs_ll *sqfs_ll_open(const char *path, size_t offset);

/* Compressions that our images do not have: their libraries stay out, one of which (LZO) has a licence unlike ours. */
int LZ4_decompress_safe(const char *from, char *to, int size, int capacity) { return -1; }
int lzo1x_decompress_safe(const unsigned char *from, size_t size, unsigned char *to, size_t *length, void *work) { return -1; }
int lzma_stream_buffer_decode() { return 11; }
int uncompress() { return -3; }

static char self[4096];
static size_t image_at;

static void fail(const char *what, ...) {
    va_list rest;
    va_start(rest, what);
    fputs("AppImage: ", stderr);
    vfprintf(stderr, what, rest);
    fputc('\n', stderr);
    va_end(rest);
    exit(127);
}

/* Where this program ends and the image begins: the table of sections is the last that a linker writes. */
static size_t end_of_program(void) {
    Elf64_Ehdr head;
    int file = open(self, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, &head, sizeof head) != sizeof head) fail("cannot read %s: %s", self, strerror(errno));
    close(file);
    return head.e_shoff + (size_t)head.e_shentsize * head.e_shnum;
}

static int write_file(sqfs *image, sqfs_inode *inode, const char *to, mode_t mode) {
    static char block[1 << 20];
    int file = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (file < 0) return -1;
    for (uint64_t done = 0; done < inode->xtra.reg.file_size;) {
        sqfs_off_t size = sizeof block;
        if (sqfs_read_range(image, inode, (sqfs_off_t)done, &size, block) != SQFS_OK || size <= 0) return errno = EIO, -1;
        for (ssize_t at = 0, wrote; at < size; at += wrote)
            if ((wrote = write(file, block + at, (size_t)(size - at))) < 0) return -1;
        done += (uint64_t)size;
    }
    return fchmod(file, mode & 0777) | close(file);
}

/* Unpacks the image below a folder that exists. */
static void unpack(const char *folder) {
    sqfs image;
    sqfs_traverse walk;
    sqfs_err error = SQFS_OK;
    if (sqfs_open_image(&image, self, image_at) != SQFS_OK) fail("%s holds no image that can be read", self);
    if (sqfs_traverse_open(&walk, &image, sqfs_inode_root(&image)) != SQFS_OK) fail("the image in %s is broken", self);
    while (sqfs_traverse_next(&walk, &error)) {
        char to[8192], link[4096];
        size_t length = sizeof link;
        sqfs_inode inode;
        if (walk.dir_end) continue;
        if (sqfs_inode_get(&image, &inode, sqfs_dentry_inode(&walk.entry)) != SQFS_OK) fail("the image in %s is broken", self);
        snprintf(to, sizeof to, "%s/%s", folder, walk.path);
        int failed = 0;
        if (S_ISDIR(inode.base.mode)) failed = mkdir(to, 0755) && errno != EEXIST;
        else if (S_ISREG(inode.base.mode)) failed = write_file(&image, &inode, to, inode.base.mode);
        else if (S_ISLNK(inode.base.mode))
            failed = sqfs_readlink(&image, &inode, link, &length) != SQFS_OK || (symlink(link, to) && errno != EEXIST);
        if (failed) fail("cannot write %s: %s", to, strerror(errno));
    }
    if (error != SQFS_OK) fail("the image in %s is broken", self);
    sqfs_traverse_close(&walk);
    sqfs_destroy(&image);
}

static void start(const char *folder, char **arguments) {
    char program[4200], here[4096];
    snprintf(program, sizeof program, "%s/AppRun", folder);
    setenv("APPIMAGE", self, 1);
    setenv("APPDIR", folder, 1);
    setenv("ARGV0", arguments[0], 1);
    if (getcwd(here, sizeof here)) setenv("OWD", here, 1);
    execv(program, arguments);
    fail("cannot start %s: %s", program, strerror(errno));
}

static void temporary(char *to, size_t room, const char *name) {
    const char *parent = getenv("TMPDIR");
    snprintf(to, room, "%s/%sXXXXXX", parent && *parent ? parent : "/tmp", name);
    if (!mkdtemp(to)) fail("cannot make the folder %s: %s", to, strerror(errno));
}

static int forget(const char *path, const struct stat *kind, int flag, struct FTW *walk) { return remove(path); }

static pid_t started;
static void pass_on(int signal) { kill(started, signal); }

static int unpack_and_run(char **arguments) {
    char folder[4096];
    int status = 0;
    temporary(folder, sizeof folder, "lockstep-unpacked-");
    unpack(folder);
    if ((started = fork()) == 0) start(folder, arguments);
    if (started < 0) fail("cannot start a process: %s", strerror(errno));
    for (int i = 0; i < 3; i++) signal((int[]){SIGINT, SIGTERM, SIGHUP}[i], pass_on);
    while (waitpid(started, &status, 0) < 0 && errno == EINTR) {}
    nftw(folder, forget, 32, FTW_DEPTH | FTW_PHYS);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct fuse_session *session;
static const char *mounted_at;
static int alive[2];

/* Reads nothing until the last process that was started has ended, and with it the other end of the pipe. */
static void *wait_for_the_end(void *none) {
    char byte;
    while (read(alive[0], &byte, 1) > 0 || errno == EINTR) {}
    fuse_session_exit(session);
    fuse_session_unmount(session);
    /* The loop ends with the mount; where fusermount3 could not take it away, nobody is served for ever all the same. */
    sleep(2);
    rmdir(mounted_at);
    _exit(0);
}

/* Serves the image at a folder until nobody uses it; says through `ready` that it is there. */
static void serve(const char *folder, int ready) {
    struct fuse_lowlevel_ops all = {
        .getattr = sqfs_ll_op_getattr, .opendir = sqfs_ll_op_opendir, .releasedir = sqfs_ll_op_releasedir,
        .readdir = sqfs_ll_op_readdir, .lookup = sqfs_ll_op_lookup, .open = sqfs_ll_op_open,
        .create = sqfs_ll_op_create, .release = sqfs_ll_op_release, .read = sqfs_ll_op_read,
        .readlink = sqfs_ll_op_readlink, .listxattr = sqfs_ll_op_listxattr, .getxattr = sqfs_ll_op_getxattr,
        .forget = sqfs_ll_op_forget, .statfs = stfs_ll_op_statfs,
    };
    char *options[] = {"lockstep", "-o", "ro,nodev,nosuid,fsname=lockstep,subtype=AppImage"};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, options);
    sqfs_ll_chan channel = {0};
    sqfs_ll *image = sqfs_ll_open(self, image_at);
    pthread_t watcher;
    if (!image || sqfs_ll_mount(&channel, folder, &arguments, &all, sizeof all, image) != SQFS_OK) _exit(1);
    session = channel.session;
    mounted_at = folder;
    if (pthread_create(&watcher, NULL, wait_for_the_end, NULL) || write(ready, "", 1) != 1) _exit(1);
    close(ready);
    fuse_session_loop(session);
    rmdir(folder);
    _exit(0);
}

/* True when the image is mounted at the folder. This process, and all that it becomes, holds it there. */
static int mount_at(const char *folder) {
    int ready[2], quiet;
    char byte;
    if (pipe2(ready, O_CLOEXEC) || pipe(alive)) fail("no pipe: %s", strerror(errno));
    pid_t between = fork();
    if (between == 0) {
        /* A child of nobody here: whatever AppRun waits for, it is not this. */
        if (fork() != 0) _exit(0);
        setsid();
        close(alive[1]);
        close(ready[0]);
        /* What libfuse says of a missing /dev/fuse is said below in one sentence. */
        if ((quiet = open("/dev/null", O_RDWR)) >= 0) dup2(quiet, 0), dup2(quiet, 1), dup2(quiet, 2);
        serve(folder, ready[1]);
    }
    if (between > 0) waitpid(between, NULL, 0);
    close(ready[1]);
    close(alive[0]);
    int mounted = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (!mounted) close(alive[1]);
    return mounted;
}

int main(int count, char **arguments) {
    const char *asked = count > 1 ? arguments[1] : "", *never = getenv("APPIMAGE_EXTRACT_AND_RUN");
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char folder[4096];
    if (length < 0) fail("cannot tell where this file lies: is /proc mounted?");
    image_at = end_of_program();
    if (!strcmp(asked, "--appimage-offset")) return printf("%zu\n", image_at) < 0;
    if (!strcmp(asked, "--appimage-extract")) {
        if (mkdir("squashfs-root", 0755) && errno != EEXIST) fail("cannot make squashfs-root here: %s", strerror(errno));
        return unpack("squashfs-root"), puts("squashfs-root"), 0;
    }
    if (!strcmp(asked, "--appimage-extract-and-run")) {
        arguments[1] = arguments[0];
        return unpack_and_run(arguments + 1);
    }
    if (!strcmp(asked, "--appimage-help"))
        return puts("--appimage-extract          unpacks into squashfs-root\n"
                    "--appimage-extract-and-run  starts without mounting anything\n"
                    "--appimage-mount            mounts, says where, and stays until it is ended\n"
                    "--appimage-offset           says where the squashfs begins, in bytes\n"
                    "Everything else goes to the program."), 0;
    if (never && *never) return unpack_and_run(arguments);
    temporary(folder, sizeof folder, ".mount_lockstep");
    if (!mount_at(folder)) {
        rmdir(folder);
        fputs("AppImage: nothing can be mounted here (that needs /dev/fuse and fusermount3, Debian's package fuse3), so it is "
              "unpacked for this run.\n", stderr);
        return unpack_and_run(arguments);
    }
    if (!strcmp(asked, "--appimage-mount")) return puts(folder), fflush(stdout), pause(), 0;
    start(folder, arguments);
}
