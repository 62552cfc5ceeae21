"""Several machines on this one: network namespaces, each with a network device whose packets go through a relay.

The relay is one thread of this process. A packet leaves a machine when those before it have, at so many bytes a second,
and arrives a while later; none is lost. It is what `tc netem rate R delay D` does, where a kernel has that. A namespace
lives as long as this process: what holds it waits for the end of its input, and its device goes when its file is
closed.
"""
import fcntl
import heapq
import os
import pathlib
import select
import shlex
import struct
import subprocess
import tempfile
import threading
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
MTU = 65000  # few packets: the relay is to take little time from who computes
ADDRESS = "10.99.0."


def open_device(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


class Machines:
    def __init__(self, n, bandwidth, delay, cores):
        """n machines; bytes a second and seconds one way; machine i has core i % cores."""
        self.n, self.bandwidth, self.delay, self.cores = n, bandwidth, delay, cores
        self.folder = tempfile.TemporaryDirectory()
        self.holders, self.devices = [], []
        for i in range(n):
            self.add(i)
        self.end, self.stop = os.pipe()
        self.relay = threading.Thread(target=self.carry)
        self.relay.start()

    def add(self, i):
        name = f"gradus{os.getpid()}"[:13] + f"-{i}"
        self.devices.append(open_device(name))
        self.holders.append(subprocess.Popen(["unshare", "--net", "--uts", "cat"], stdin=subprocess.PIPE))
        time.sleep(0.2)  # until it is in its namespace
        subprocess.run(["ip", "link", "set", name, "netns", str(self.holders[i].pid)], check=True)
        subprocess.run([*self.inside(i), "sh", "-ec", f"hostname machine{i}; ip link set lo up; ip link set {name} mtu "
                        f"{MTU} up; ip addr add {ADDRESS}{i + 1}/24 dev {name}"], check=True)

    def inside(self, i):
        """Words before a command that is to run on machine i."""
        return ["nsenter", "-t", str(self.holders[i].pid), "-n", "-u", "taskset", "-c", str(i % self.cores)]

    def mpirun(self):
        """Open MPI's, from the first machine, a process on each."""
        agent = pathlib.Path(self.folder.name) / "agent"
        cases = "".join(f"{ADDRESS}{i + 1}) exec {shlex.join(self.inside(i))} sh -c \"$*\";;\n" for i in range(self.n))
        agent.write_text(f"#!/bin/sh\nhost=$1\nshift\ncase $host in\n{cases}esac\n")
        agent.chmod(0o755)
        hosts = ",".join(f"{ADDRESS}{i + 1}" for i in range(self.n))
        network = [
            word for layer in ("btl_tcp", "oob_tcp") for word in ("--mca", f"{layer}_if_include", ADDRESS + "0/24")
        ]
        return [*self.inside(0), "mpiexec.openmpi", "-np", str(self.n), "-host", hosts, "-bind-to", "none", "--mca",
                "plm_rsh_agent", str(agent), "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", *network]

    def carry(self):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # before who computes, or it adds delays of its own
        under_way, free, count = [], [0.0] * self.n, 0  # (arrival, number, to, packet); when each may send again
        while True:
            now = time.monotonic()
            while under_way and under_way[0][0] <= now:
                _, _, to, packet = heapq.heappop(under_way)
                os.write(self.devices[to], packet)
            wait = max(under_way[0][0] - time.monotonic(), 0) if under_way else None
            ready, _, _ = select.select([self.end, *self.devices], [], [], wait)
            if self.end in ready:
                return
            for device in ready:
                packet, i = os.read(device, MTU), self.devices.index(device)
                to = packet[19] - 1  # the last byte of where an IPv4 packet goes
                if packet[0] >> 4 != 4 or not 0 <= to < self.n:
                    continue
                free[i] = max(free[i], time.monotonic()) + len(packet) / self.bandwidth
                count += 1
                heapq.heappush(under_way, (free[i] + self.delay, count, to, packet))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.write(self.stop, b"x")
        self.relay.join()
        for device in (*self.devices, self.end, self.stop):
            os.close(device)
        for holder in self.holders:
            holder.stdin.close()
            holder.wait()
        self.folder.cleanup()
