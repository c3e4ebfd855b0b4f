/** A program of somebody else, as it is started: an interpreter, a module, and what it is told once. */
export type Language = 'node' | 'python'

/** What programs of a language are started with on this machine. */
export interface Interpreter {
  /** absolute path */
  readonly path: string
  /** absolute paths of what it reads of itself, beside the system's libraries */
  readonly readable: readonly string[]
}

export interface Program {
  /** processes of one key are alike: calls go to any of them. Never shared by tenants */
  readonly key: string
  /** whose it is: a tenant has a share of the processes of a host */
  readonly owner: string
  readonly language: Language
  /** what it is started with; that of its language when left out */
  readonly interpreter?: Interpreter
  /** absolute path of the module whose `start` gives the function that is called */
  readonly module: string
  /** absolute paths of what it may read beside its interpreter: files and folders, readable by everybody */
  readonly readable: readonly string[]
  /** it sees what the system knows of its own processes; libraries such as TensorFlow do not start without */
  readonly seesItself?: boolean
  /** plain JSON, given to `start` */
  readonly argument: unknown
  /** values in the argument that no line of log and no error tells */
  readonly secrets?: readonly string[]
  /** MiB of memory of each of its processes, in place of the host's */
  readonly memoryMib?: number | undefined
  /** seconds of CPU time that its processes may take in a second, all together; as much as there is when left out */
  readonly cpuPerSecond?: number | undefined
}

/** A line that a program wrote. `stream`: by the protocol, or as output. */
export interface ProgramLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** What a program may ask of the host while one of its calls is open. Throws AppErrors, whose messages it is told. */
export type AnswerQuestion = (method: string, params: unknown, signal: AbortSignal) => Promise<unknown>
