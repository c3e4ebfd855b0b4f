/** ms of the machine's clock that only goes forward: the same in all its processes, with microseconds. */
export function machineMs(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1_000 + nanos / 1e6
}
