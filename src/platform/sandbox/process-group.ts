/**
 * The processes that a program consists of, as far as it may start others: their CPU time, their memory all together, and
 * those that outlive the calls that started them.
 */
import type { StartTimer } from '#kernel'
import { cpuMsOf, memoryKibOf, processTree, type TreeProcess } from './process-tree.ts'

export interface GroupOptions {
  readonly pid: number
  /** processes when the program has started none */
  readonly alone: number
  readonly memoryMib: number
  readonly later: StartTimer
  /** ms of a clock that never goes back */
  readonly clock: () => number
  /** Whether what it starts has a reason: it starts itself, or one of its calls is open. */
  readonly isAtWork: () => boolean
  readonly end: (why: string) => void
  readonly say: (text: string) => void
}

/** ms between two looks at a program, and while it has processes of its own */
const LOOK_MS = 200
const LOOK_CLOSELY_MS = 20

export class ProcessGroup {
  readonly #options: GroupOptions
  /** processes that it has started before its first call */
  #lasting: ReadonlySet<number> = new Set()
  #cpu = { ms: 0, at: Number.NEGATIVE_INFINITY }
  #callOff: () => void = () => undefined

  constructor(options: GroupOptions) {
    this.#options = options
  }

  /** Looks at it from now on: of a program that can start processes. */
  watch(): void {
    this.#lookIn(LOOK_MS)
  }

  /** What it has started until now stays. */
  started(): void {
    this.#lasting = new Set(processTree(this.#options.pid).map(({ pid }) => pid))
  }

  /** ms of CPU time, as it was lately. */
  get cpuMs(): number {
    if (this.#options.clock() - this.#cpu.at >= LOOK_MS) this.countCpu()
    return this.#cpu.ms
  }

  countCpu(): void {
    this.#counted(processTree(this.#options.pid))
  }

  stop(): void {
    this.#callOff()
  }

  #counted(tree: readonly TreeProcess[]): void {
    this.#cpu = { ms: Math.max(this.#cpu.ms, cpuMsOf(tree)), at: this.#options.clock() }
  }

  #lookIn(ms: number): void {
    this.#callOff = this.#options.later(ms, () => this.#look())
  }

  #look(): void {
    const { pid, alone, memoryMib, end, isAtWork } = this.#options
    const tree = processTree(pid)
    this.#counted(tree)
    const living = tree.filter(({ isOver }) => !isOver).map((one) => one.pid)
    if (memoryKibOf(living, memoryMib * 1024) > memoryMib * 1024) {
      return end(`its processes took more than its limit of ${memoryMib} MiB of memory, all together`)
    }
    if (!isAtWork()) this.#endLeftOver(living)
    this.#lookIn(living.length > alone ? LOOK_CLOSELY_MS : LOOK_MS)
  }

  #endLeftOver(living: readonly number[]): void {
    const left = living.filter((pid) => !this.#lasting.has(pid))
    for (const pid of left) kill(pid)
    const { say } = this.#options
    if (left.length > 0) say(`${left.length} processes of it had outlived their calls, and were ended`)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it ended by itself
  }
}
