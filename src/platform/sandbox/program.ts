/** Describes an untrusted program: an interpreter, a module, and its argument. */
export type Language = 'node' | 'python'

export interface Interpreter {
  readonly path: string
  readonly readable: readonly string[]
}

export interface Program {
  /** Programs with the same key can share processes. Keys are never shared by tenants */
  readonly key: string
  readonly owner: string
  readonly language: Language
  /** Default: the interpreter of the language */
  readonly interpreter?: Interpreter
  /** Absolute path of the module whose `start` returns the call handler */
  readonly module: string
  /** Absolute paths of files and folders that the program can read, in addition to its interpreter; world-readable */
  readonly readable: readonly string[]
  readonly seesItself?: boolean
  readonly argument: unknown
  readonly secrets?: readonly string[]
  /** Memory per process in MiB; default: the host's limit */
  readonly memoryMib?: number | undefined
  /** Seconds of CPU time per second, for all its processes together; default: unlimited */
  readonly cpuPerSecond?: number | undefined
}

/** Log line of a program. `stream`: sent over the protocol, or printed. */
export interface ProgramLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** Answers a program's questions during its calls. The program receives the messages of AppErrors. */
export type AnswerQuestion = (method: string, params: unknown, signal: AbortSignal) => Promise<unknown>
