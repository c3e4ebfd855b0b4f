/** What a process of a program of somebody else may use; each bound that it meets ends the call or the process, and is said. */
export interface ProcessLimits {
  /** ms from its start until it is ready */
  readonly startMs: number
  /** ms of one call, unless the call says less */
  readonly callMs: number
  /** MiB of memory beside the program text and shared libraries */
  readonly memoryMib: number
  /** processes and threads, the interpreter's own among them */
  readonly tasks: number
  readonly openFiles: number
  /** bytes of one line of the protocol, either way */
  readonly lineBytes: number
  /** bytes of the protocol between two answers, or questions that were answered */
  readonly unansweredBytes: number
  /** bytes of standard output and error between two answers */
  readonly outputBytes: number
  /** lines of log in a second; more are dropped and counted */
  readonly logLines: number
  /** calls at once */
  readonly calls: number
  /** questions to the host that are open at once */
  readonly questions: number
}

export const DEFAULT_LIMITS: ProcessLimits = {
  startMs: 10_000,
  callMs: 10_000,
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
