/** Monitors a program's CPU time, total memory, and child processes, which end if they outlive their calls. */
import type { StartTimer } from '#kernel'
import { cpuMsOf, memoryKibOf, processTree, type TreeProcess } from './process-tree.ts'

export interface GroupOptions {
  readonly pid: number
  readonly alone: number
  readonly memoryMib: number
  readonly later: StartTimer
  /** Returns monotonic ms */
  readonly clock: () => number
  /** Whether child processes are expected: the program is starting, or has open calls */
  readonly isAtWork: () => boolean
  readonly end: (why: string) => void
  readonly log: (text: string) => void
}

/** Intervals between checks, without and with child processes, in ms */
const LOOK_MS = 200
const LOOK_CLOSELY_MS = 20

export class ProcessGroup {
  readonly #options: GroupOptions
  #lasting: ReadonlySet<number> = new Set()
  #cpu = { ms: 0, at: Number.NEGATIVE_INFINITY }
  #callOff: () => void = () => undefined

  constructor(options: GroupOptions) {
    this.#options = options
  }

  watch(): void {
    this.#lookIn(LOOK_MS)
  }

  started(): void {
    this.#lasting = new Set(processTree(this.#options.pid).map(({ pid }) => pid))
  }

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
      return end(`its processes exceeded its limit of ${memoryMib} MiB of memory in total`)
    }
    if (!isAtWork()) this.#endLeftOver(living)
    this.#lookIn(living.length > alone ? LOOK_CLOSELY_MS : LOOK_MS)
  }

  #endLeftOver(living: readonly number[]): void {
    const left = living.filter((pid) => !this.#lasting.has(pid))
    for (const pid of left) kill(pid)
    const { log } = this.#options
    if (left.length > 0) log(`${left.length} of its processes outlived their calls and were killed`)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}
