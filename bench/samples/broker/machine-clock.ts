/** Monotonic clock of the machine in ms with microseconds, shared by all processes. */
export function machineMs(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1_000 + nanos / 1e6
}
