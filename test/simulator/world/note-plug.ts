/** Simulates an external actuator that records its calls, and is slow, fails or hangs on demand. */
import { AppError } from '../../../src/kernel/errors.ts'
import { actingPlugs, causeOf, type Plug } from '../../../src/plug.ts'
import type { Chance } from './chance.ts'
import type { VirtualLoop } from './virtual-loop.ts'

export interface Note {
  readonly task: string
  /** id of the effect */
  readonly effect: string
  /** number of the message */
  readonly n: number
  /** ms since the beginning of the run */
  readonly at: number
  /** the host life that made the call */
  readonly life: number
  /** ms of the successful response; undefined: none */
  doneAt?: number
  /** ms of a late successful response, for which the caller may still have waited */
  lateAt?: number
  /** whether the call failed */
  hasFailed?: boolean
}

/** Shares of calls that fail and that hang, and the maximum delay of others. */
export interface Behaviour {
  readonly fails: number
  readonly hangs: number
  readonly slowMs: number
  /** share of hanging calls that respond when the host no longer waits; absent: none */
  readonly late?: number
}

/** ms after which a hanging call may respond: its limit has passed, and it may have been repeated */
const LATE_MS = [21_000, 60_000] as const

/** maximum consecutive failures of one effect: fewer than a rule's attempts */
const MOST_FAILURES = 3

const WELL: Behaviour = { fails: 0, hangs: 0, slowMs: 0 }

export class NoteBook {
  readonly list: Note[] = []
  behaviour: Behaviour | undefined
  readonly #failures = new Map<string, number>()
  readonly #loop: VirtualLoop
  readonly #chance: Chance
  /** adds a line to the history of the run */
  readonly tell: (line: string) => void
  #life = 0
  /** ms at which each life of the host ended */
  readonly #ends: number[] = []

  constructor(loop: VirtualLoop, chance: Chance, tell: (line: string) => void) {
    this.#loop = loop
    this.#chance = chance
    this.tell = tell
  }

  crashed(): void {
    this.#ends[this.#life] = this.#loop.elapsed
    this.#life++
  }

  /** returns the ms at which a life of the host ended */
  endOf(life: number): number {
    return this.#ends[life] ?? Infinity
  }

  async take(note: Pick<Note, 'task' | 'effect' | 'n'>): Promise<void> {
    const entry: Note = { ...note, at: this.#loop.elapsed, life: this.#life }
    this.list.push(entry)
    const name = `note ${note.effect} of message ${note.n}`
    try {
      const how = await this.behave(note.effect, name)
      if (how === 'late') entry.lateAt = this.#loop.elapsed
      else {
        entry.doneAt = this.#loop.elapsed
        this.tell(`${name} was called at ${entry.at.toFixed(3)} and is done`)
      }
    } catch (error) {
      entry.hasFailed = true
      throw error
    }
  }

  /**
   * Behaves as the outside world currently does: succeeds at once or after a while, throws `PLUG_FAILED`, hangs, or
   * responds too late. `key`: equal for repeated calls, of which few in a row fail.
   */
  async behave(key: string, name: string): Promise<'done' | 'late'> {
    const { fails, hangs, slowMs } = this.behaviour ?? WELL
    const failures = this.#failures.get(key) ?? 0
    const draw = this.#chance.next()
    if (failures >= MOST_FAILURES || draw >= fails + hangs) {
      await this.#work(slowMs)
      return 'done'
    }
    this.#failures.set(key, failures + 1)
    this.tell(`${name} ${draw < fails ? 'fails' : 'hangs'}`)
    if (draw >= fails) return this.#hang()
    await this.#work(slowMs)
    throw new AppError('PLUG_FAILED', 'the world outside says no')
  }

  /** Waits for a random time, or not at all. */
  async #work(slowMs: number): Promise<void> {
    if (slowMs === 0 || !this.#chance.is(0.5)) return
    const ms = this.#chance.between(1, slowMs)
    await new Promise<void>((resolve) => void this.#loop.after(ms, resolve))
  }

  /** Never responds, or responds too late, when the call may have been repeated. */
  async #hang(): Promise<'late'> {
    const { late = 0 } = this.behaviour ?? WELL
    if (late === 0 || !this.#chance.is(late)) return new Promise<never>(() => undefined)
    const [least, most] = LATE_MS
    const ms = this.#chance.between(least, most)
    await new Promise<void>((resolve) => void this.#loop.after(ms, resolve))
    return 'late'
  }
}

/** Creates a sensor and an actuator that act on the outside world. */
export function notePlugs(
  loop: VirtualLoop,
  chance: Chance,
  tell: (line: string) => void,
): { readonly plugs: readonly Plug[]; readonly book: NoteBook } {
  const book = new NoteBook(loop, chance, tell)
  const plugs = actingPlugs({
    name: 'note',
    version: '1.0.0',
    category: 'outside',
    description: 'Writes down a number in the world outside',
    input: { n: { type: 'any', mandatory: true } },
    output: {},
    touches: () => ['the world outside'],
    async perform(context) {
      const { task, effect } = causeOf(context)
      await book.take({ task, effect, n: Number(context.properties.n) })
      return { message: 'written down', rawData: {} }
    },
  })
  return { plugs, book }
}
