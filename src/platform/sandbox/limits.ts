/** Defines the limits of an untrusted process and its children; exceeding one ends the call or the process. */
export interface ProcessLimits {
  /** Time from start to ready, in ms */
  readonly startMs: number
  /** Time of one call in ms, unless the call has a lower limit */
  readonly callMs: number
  /** Time to answer a ping in ms; a ping is sent when a call is overdue */
  readonly pingMs: number
  /** Memory in MiB, including child processes, without program text and shared libraries */
  readonly memoryMib: number
  /** Processes and threads, including the interpreter's own */
  readonly tasks: number
  /** Open files per process; in total up to `tasks` times as many */
  readonly openFiles: number
  /** Bytes of one protocol line, in either direction */
  readonly lineBytes: number
  /** Protocol bytes between two answers, or between two answered questions */
  readonly unansweredBytes: number
  /** Bytes of standard output and error between two answers */
  readonly outputBytes: number
  /** Log lines per second; further lines are dropped and counted */
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
