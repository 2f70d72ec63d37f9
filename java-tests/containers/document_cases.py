"""The Dockerfiles, the pod and the commands of docs/CONTAINERS.md, carried out in a root of their own."""
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path

import container
from container import AS_USER, SOURCE, USER, Case, child_of, execute

try:
    import yaml
except ImportError:
    yaml = None

PAGE = SOURCE / "docs/CONTAINERS.md"
RELEASE = re.search(r"jtrace-[\d.]+-linux-x86_64", PAGE.read_text())[0]
# A root with this machine's system, or with that of JTRACE_CONTAINER_ROOT (a root of scripts/roots.sh), without its
# /tmp and /opt. $1: the folder of the root, $2: its /opt, $3: its /data, $4: the system.
ROOT = """mount -t tmpfs none "$1"
for entry in "$4"/*; do
  case ${entry##*/} in
    tmp | opt | data | proc | dev | sys) ;;
    *)
      if [ -L "$entry" ]; then cp -a "$entry" "$1/"
      elif [ -d "$entry" ]; then mkdir "$1/${entry##*/}"; mount --rbind -o ro "$entry" "$1/${entry##*/}"
      fi ;;
  esac
done
mkdir -m 1777 "$1/tmp"
mkdir "$1/opt" "$1/data" "$1/proc" "$1/dev" "$1/classes"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
mount --bind "$2" "$1/opt"
mount --bind "$3" "$1/data"
mount --bind "$5" "$1/classes"
cd "$1\""""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)


def dockerfile_lines():
    return [line.split(None, 1) for block in blocks("dockerfile") for line in block.splitlines() if line.strip()]


class Documents(Case):
    """`opt` is what the image has at /opt, made as the page says."""

    def setUp(self):
        super().setUp()
        self.opt = self.volume / "opt"
        self.data = self.volume / "data"
        for folder in (self.opt, self.data, self.volume / "root"):
            folder.mkdir()
        self.data.chmod(0o777)
        self.tarball = self.volume / f"{RELEASE}.tar.gz"
        made = SOURCE / "dist" / self.tarball.name
        if made.exists():
            shutil.copy(made, self.tarball)
        else:  # a tree of the build, packed under the release's name
            tree = self.volume / RELEASE
            packed = execute(["cmake", "--install", container.SETTINGS["build"], "--prefix", tree])
            self.assertEqual(packed.exit, 0, packed)
            with tarfile.open(self.tarball, "w:gz") as archive:
                archive.add(tree, RELEASE)

    def build_image(self):
        """Carries out ADD and COPY of the first Dockerfile."""
        stages = self.volume / "stage"
        for verb, rest in dockerfile_lines():
            if verb == "ADD" and rest.endswith(" /"):
                self.assertEqual(rest.split()[0], self.tarball.name)
                with tarfile.open(self.tarball) as archive:
                    archive.extractall(stages)
            elif verb == "COPY":
                source, target = re.fullmatch(r"--from=jtrace /(\S+) /opt/(\S+)", rest).groups()
                shutil.copytree(stages / source, self.opt / target, symlinks=True)
        execute(["chmod", "-R", "a+rX", self.opt])

    def values_of(self, variable):
        return [rest.split("=", 1)[1] for verb, rest in dockerfile_lines()
                if verb == "ENV" and rest.startswith(variable + "=")]

    @contextlib.contextmanager
    def running(self, tool_options, user=()):
        """The program in that image, waiting; gives its pid and its process."""
        system = os.environ.get("JTRACE_CONTAINER_ROOT", "")
        java = "java" if system else container.SETTINGS["java"]
        environment = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=pod-1",
                       f"JAVA_TOOL_OPTIONS={tool_options}"]
        script = ROOT.replace('"$5"', shlex.quote(str(self.products / "classes")))
        arguments = [self.volume / "root", self.opt, self.data, system]
        command = ["unshare", "--mount", "--pid", "--fork", "--propagation", "private", "bash", "-euc",
                   f'{script}\nshift 4\nexec chroot . "$@"', "bash", *map(str, arguments), *user, *environment, java,
                   "-cp", "/classes", "Contained", "wait"]
        with open(self.volume / "stderr", "wb") as err, \
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True) as run:
            try:
                for expected in (*self.plain.out.splitlines(), "ready"):
                    self.assertEqual(run.stdout.readline(), expected + "\n", (self.volume / "stderr").read_text())
                yield child_of(run.pid)
            finally:
                run.stdin.close()
            self.assertEqual(run.wait(container.PATIENCE), container.EXIT)

    def only_trace(self):
        traces = list(self.data.glob("*.bin"))
        self.assertEqual(len(traces), 1, traces)
        self.summary(traces[0])
        return traces[0].name

    def test_image_that_records_from_the_start(self):
        self.build_image()
        value = self.values_of("JAVA_TOOL_OPTIONS")[1]
        with self.running(value, AS_USER):
            pass
        self.assertRegex(self.only_trace(), r"^pod-1\.\d[\d-]*\.1\.bin$")
        self.assertEqual(next(self.data.glob("*.bin")).stat().st_uid, USER)

    def test_image_with_serve_and_the_commands(self):
        """`docker exec CONTAINER` becomes a command in the container's namespaces and root."""
        self.build_image()
        with self.running(self.values_of("JAVA_TOOL_OPTIONS")[0]) as pid:
            inside, outside = (block for block in blocks("sh") if "jtrace start" in block and "run" not in block)
            for line in inside.splitlines():
                command = shlex.split(line.replace("docker exec CONTAINER ", ""))
                run = execute([*self.inside(pid), "-r", *command])
                self.assertEqual((run.exit, run.err), (0, []), f"{line}\n{run}")
            self.only_trace()
            next(self.data.glob("*.bin")).unlink()
            for line in outside.splitlines():
                command = shlex.split(line.replace("PID", str(pid)))
                run = self.jtrace(*command[1:])
                self.assertEqual((run.exit, run.err), (0, []), f"{line}\n{run}")
            self.only_trace()

    def test_variable_of_jtrace_env(self):
        """docker's --env-file takes lines as they are: no quotes, one line."""
        line = next(line for block in blocks("sh") for line in block.splitlines() if line.startswith("jtrace env"))
        command = shlex.split(line.split(" > ")[0])
        run = self.jtrace(*command[1:])
        self.assertEqual((run.exit, run.err), (0, []), run)
        name, value = run.out.rstrip("\n").split("=", 1)
        self.assertEqual(name, "JAVA_TOOL_OPTIONS")
        self.build_image()
        with self.running(value):
            pass
        self.only_trace()

    def test_pod(self):
        text, = blocks("yaml")
        if yaml is None:
            self.assertNotIn("\t", text)
            self.skipTest("not verified: the pod, because python3-yaml is not installed")
        pod = yaml.safe_load(text)["spec"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        for one in (*pod["initContainers"], *pod["containers"]):
            self.assertLessEqual({mount["name"] for mount in one["volumeMounts"]}, volumes)
        with tarfile.open(self.tarball) as archive:  # the image's Dockerfile: ADD … /opt/
            archive.extractall(self.volume / "image")
        copy = [part.replace("/opt/", f"{self.volume}/image/").replace("/jtrace/", f"{self.opt}/jtrace/")
                for part in pod["initContainers"][0]["command"]]
        (self.opt / "jtrace").mkdir()
        self.assertEqual(execute(copy).exit, 0)
        value, = (variable["value"] for variable in pod["containers"][0]["env"])
        group = str(pod["securityContext"]["fsGroup"])
        self.data.chmod(0o2770)
        os.chown(self.data, 0, int(group))
        with self.running(value, ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--groups", group]):
            pass
        self.only_trace()
