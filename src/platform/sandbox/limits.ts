/**
 * Limits of an untrusted process; exceeding one ends the call or the process with a message. Child processes are
 * included: they share the channel, the output and the log, the system counts tasks by the user that each process has
 * to itself, and memory is limited per process and watched in total.
 */
export interface ProcessLimits {
  /** ms from start to ready */
  readonly startMs: number
  /** ms of one call, unless the call has a lower limit */
  readonly callMs: number
  /** ms to answer a ping, sent when a call is overdue */
  readonly pingMs: number
  /** MiB of memory beside program text and shared libraries, with its children */
  readonly memoryMib: number
  /** processes and threads, including the interpreter's own */
  readonly tasks: number
  /** per process; in total up to `tasks` times as many */
  readonly openFiles: number
  /** bytes of one line of the protocol, either way */
  readonly lineBytes: number
  /** bytes of the protocol between two answers, or between two answered questions */
  readonly unansweredBytes: number
  /** bytes of standard output and error between two answers */
  readonly outputBytes: number
  /** log lines per second; more are dropped and counted */
  readonly logLines: number
  readonly calls: number
  readonly questions: number
}

export const DEFAULT_LIMITS: ProcessLimits = {
  startMs: 60_000,
  callMs: 10_000,
  pingMs: 2_000,
  memoryMib: 128,
  tasks: 32,
  openFiles: 64,
  lineBytes: 1_048_576,
  unansweredBytes: 8_388_608,
  outputBytes: 262_144,
  logLines: 200,
  calls: 100,
  questions: 16,
}
