"""Cut the cables of workers while they work: hosts are network namespaces of this machine.

    python campaigns/cut_cables.py

A scheduler and two workers run as programs of their own, each on a host with a cable (a veth pair)
to the client's host. A job must end with the same bits, or with a sentence in the time that was
set. Where the machine allows no namespaces (they need root and `ip`), it says so and ends well.
"""

from __future__ import annotations

import contextlib
import faulthandler
import operator
import os
import shutil
import subprocess
import sys
import threading
import time

HOSTS = ("scheduler", "w1", "w2")
PORT, BLOCKS = 8786, 60
ENOUGH = 20.0  # seconds without a sign of life after which a job must end
SLACK = 40.0  # seconds more that a slow machine may need for that
HANG = 300.0  # seconds of one job


def ip(*words: str) -> None:
    """Run `ip`; what it says is part of the error."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Hosts:
    """A host for the client, and one at the end of a cable for each of `HOSTS`.

    Addresses are of 192.0.2.0/24, which is kept for examples: nothing of it leaves the machine.
    """

    def __init__(self) -> None:
        self.client = f"adaline-{os.getpid()}-client"
        self.names = {host: f"adaline-{os.getpid()}-{host}" for host in HOSTS}

    def __enter__(self) -> Hosts:
        try:
            self._connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self) -> None:
        ip("netns", "add", self.client)
        ip("-n", self.client, "link", "set", "lo", "up")
        forward = ["sysctl", "-q", "-w", "net.ipv4.ip_forward=1"]
        subprocess.run(["ip", "netns", "exec", self.client, *forward], check=True)
        for k, (host, name) in enumerate(self.names.items()):
            ip("netns", "add", name)
            ip(
                "link",
                "add",
                host,
                "netns",
                self.client,
                "type",
                "veth",
                "peer",
                "eth0",
                "netns",
                name,
            )
            ip("-n", self.client, "address", "add", f"{self._near(k)}/30", "dev", host)
            ip("-n", self.client, "link", "set", host, "up")
            ip("-n", name, "address", "add", f"{self.address(host)}/30", "dev", "eth0")
            for link in ("lo", "eth0"):
                ip("-n", name, "link", "set", link, "up")
            ip("-n", name, "route", "add", "default", "via", self._near(k))

    @staticmethod
    def _near(k: int) -> str:
        return f"192.0.2.{4 * k + 1}"

    @staticmethod
    def address(host: str) -> str:
        """Of the far end of a cable."""
        return f"192.0.2.{4 * HOSTS.index(host) + 2}"

    def cut(self, *hosts: str) -> None:
        """Cut cables at the client's end: nobody is told, packets are lost."""
        for host in hosts:
            ip("-n", self.client, "link", "set", host, "down")

    def mend(self, *hosts: str) -> None:
        """Put cables back."""
        for host in hosts:
            ip("-n", self.client, "link", "set", host, "up")

    def start(self, host: str, *words: str) -> subprocess.Popen[bytes]:
        """A program on a host."""
        command = ["ip", "netns", "exec", self.names[host], sys.executable, "-W", "ignore", *words]
        # A scheduler drops a worker that was silent for so long; by default after 5 minutes.
        variables = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s"}
        return subprocess.Popen(
            command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def __exit__(self, *_: object) -> None:
        for name in (*self.names.values(), self.client):
            with contextlib.suppress(OSError):
                ip("netns", "delete", name)


class Programs:
    """`dask scheduler` and two `dask worker`, each on its host."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts, self.address = hosts, f"tcp://{hosts.address('scheduler')}:{PORT}"
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.start_what_ended()

    def start_what_ended(self) -> None:
        """Start the programs that do not run: a worker that lost its scheduler ends."""
        for host in HOSTS:
            if host not in self.running or self.running[host].poll() is not None:
                given = ["scheduler", "--port", str(PORT)]
                if host != "scheduler":
                    given = ["worker", self.address, "--nthreads", "1", "--no-nanny"]
                given += ["--host", self.hosts.address(host), "--no-dashboard"]
                self.running[host] = self.hosts.start(host, "-m", "dask", *given)

    def close(self) -> None:
        """End all of them."""
        for one in self.running.values():
            one.kill()
            one.wait(30)


class Campaign:
    """Jobs whose answer is known, while cables are cut."""

    def __init__(self, client, programs: Programs) -> None:
        from adaline.sums.mapreduce import mapreduce
        from slow_blocks import bits, plain_moments

        self.client, self.programs, self.hosts = client, programs, programs.hosts
        self.straight = bits(mapreduce(plain_moments, range(BLOCKS), operator.add))

    def all_well(self) -> None:
        """Cables are in, and both workers are there."""
        self.hosts.mend(*HOSTS)
        while self.client.status != "running" or len(self.client.nthreads()) < 2:
            self.programs.start_what_ended()
            time.sleep(0.2)

    def job(self, hosts: tuple[str, ...], seconds: float | None) -> str:
        """Sums while these are cut off for so many seconds, or until the end of the job."""
        from adaline.distributed.clusters import Workers
        from adaline.sums.mapreduce import mapreduce
        from slow_blocks import bits, slow_moments

        timers = [threading.Timer(0.5, self.hosts.cut, hosts)]
        if seconds is not None:
            timers.append(threading.Timer(0.5 + seconds, self.hosts.mend, hosts))
        for timer in timers:
            timer.start()
        who = Workers(self.client, timeout=ENOUGH)
        try:
            found = mapreduce(slow_moments, range(BLOCKS), operator.add, who)
        except TimeoutError as error:
            return str(error).partition(".")[0]
        finally:
            for timer in timers:
                timer.join()
        return "the same bits" if bits(found) == self.straight else "OTHER BITS"


# Who is cut off, for how long (None: until the job ends), and how the job may end.
BITS, NOBODY = "the same bits", "no sign of life"
JOBS = [
    ((), 0.0, (BITS,)),
    (("w1",), 3.0, (BITS,)),
    (("w1",), None, (BITS,)),
    (("w1", "w2"), 3.0, (BITS,)),
    (("w1", "w2"), None, (NOBODY,)),
    (("scheduler",), 3.0, (BITS,)),
    (("scheduler",), None, (NOBODY,)),
]


def jobs(programs: Programs) -> int:
    """Every job once; how many ended otherwise than they may."""
    import logging

    from adaline.data import cluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it reports every cut
    wrong = 0
    with cluster(programs.address, timeout=120) as client:
        campaign = Campaign(client, programs)
        for cut, seconds, ends in JOBS:
            hang = threading.Timer(HANG, give_up, (programs,))
            hang.start()
            campaign.all_well()
            began = time.monotonic()
            found = campaign.job(cut, seconds)
            took = time.monotonic() - began
            hang.cancel()
            right = found.startswith(ends) and (ends == (BITS,) or took < ENOUGH + SLACK)
            wrong += not right
            long = "until the end" if seconds is None else f"for {seconds:g} s"
            words = f"{' and '.join(cut) or 'nobody'} cut off {long}: {found}, after {took:.1f} s"
            print(words if right else f"WRONG: {words}; expected {' or '.join(ends)}", flush=True)
        programs.hosts.mend(*HOSTS)
    return wrong


def give_up(programs: Programs) -> None:
    """A job hangs: say where, and leave nothing behind."""
    faulthandler.dump_traceback()
    programs.close()
    programs.hosts.__exit__()
    os._exit(1)


def enter(name: str) -> None:
    """Move this process, and the threads it will start, to a host."""
    import ctypes

    with open(f"/run/netns/{name}") as place:
        if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")


def main() -> None:
    if not shutil.which("ip"):
        print("cut_cables: skipped, the command `ip` (iproute2) is not there")
        return
    with contextlib.ExitStack() as stack:
        try:
            hosts = stack.enter_context(Hosts())
            enter(hosts.client)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"cut_cables: skipped, this machine allows no network namespaces ({error})")
            return
        programs = Programs(hosts)
        stack.callback(programs.close)
        wrong = jobs(programs)
        print(f"{len(JOBS)} jobs with cables cut; {wrong} ended otherwise than promised")
        sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
