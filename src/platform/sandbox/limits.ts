/**
 * What a process of a program of somebody else may use; each bound that it meets ends the call or the process, and is said.
 * What the process starts counts with it: the channel, the output and the log are shared, the system counts tasks by the
 * user that each process of a program has to itself, and memory is limited for each and looked at for all together.
 */
export interface ProcessLimits {
  /** ms from its start until it is ready */
  readonly startMs: number
  /** ms of one call, unless the call says less */
  readonly callMs: number
  /** ms in which it answers a ping, which it is sent when a call is over its time */
  readonly pingMs: number
  /** MiB of memory beside the program text and shared libraries, of it and all that it starts */
  readonly memoryMib: number
  /** processes and threads, the interpreter's own among them */
  readonly tasks: number
  /** of each process: in all of them as many times `tasks` at most */
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
