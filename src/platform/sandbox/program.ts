/** Untrusted program: an interpreter, a module, and its argument. */
export type Language = 'node' | 'python'

export interface Interpreter {
  readonly path: string
  readonly readable: readonly string[]
}

export interface Program {
  /** processes of one key are interchangeable. Never shared by tenants */
  readonly key: string
  /** tenant, which has a share of the processes of a host */
  readonly owner: string
  readonly language: Language
  /** default: that of its language */
  readonly interpreter?: Interpreter
  /** absolute path of the module whose `start` returns the called function */
  readonly module: string
  /** absolute paths of readable files and folders, beside its interpreter; world-readable */
  readonly readable: readonly string[]
  readonly seesItself?: boolean
  readonly argument: unknown
  readonly secrets?: readonly string[]
  /** MiB of memory per process; default: that of the host */
  readonly memoryMib?: number | undefined
  /** seconds of CPU time per second, over all its processes; default: unlimited */
  readonly cpuPerSecond?: number | undefined
}

/** `stream`: by the protocol, or as output. */
export interface ProgramLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** Answers questions of a program during its calls. The program receives the messages of AppErrors. */
export type AnswerQuestion = (method: string, params: unknown, signal: AbortSignal) => Promise<unknown>
