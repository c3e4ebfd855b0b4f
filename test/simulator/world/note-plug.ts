/** An actuator of the world outside: it writes down who called it, and is slow, fails or never answers when told so. */
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
  /** which life of the host called */
  readonly life: number
  /** ms at which it was answered well; undefined: it was not */
  doneAt?: number
  /** ms at which it was answered well after its time; who called may have had reason to wait for it all the same */
  lateAt?: number
  /** it was answered badly */
  hasFailed?: boolean
}

/** Of calls, how many fail and how many hang, and how slow others are at most. */
export interface Behaviour {
  readonly fails: number
  readonly hangs: number
  readonly slowMs: number
  /** of those that hang, how many answer when nobody waits for it any more; absent: none */
  readonly late?: number
}

/** ms after which a call that hangs may answer: its limit is over then, and it may have been made again */
const LATE_MS = [21_000, 60_000] as const

/** failures in a row of one effect: fewer than a rule tries */
const MOST_FAILURES = 3

const WELL: Behaviour = { fails: 0, hangs: 0, slowMs: 0 }

export class NoteBook {
  readonly list: Note[] = []
  behaviour: Behaviour | undefined
  readonly #failures = new Map<string, number>()
  readonly #loop: VirtualLoop
  readonly #chance: Chance
  /** into the history of the run */
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

  /** ms at which that life of the host ended */
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
   * As the world outside behaves just now: answers well, at once or after a while, throws `PLUG_FAILED`, hangs, or answers
   * when nobody may wait for it any more. `key`: the same for calls that are made again, of which few in a row go wrong.
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

  /** Takes its time, or none. */
  async #work(slowMs: number): Promise<void> {
    if (slowMs === 0 || !this.#chance.is(0.5)) return
    const ms = this.#chance.between(1, slowMs)
    await new Promise<void>((resolve) => void this.#loop.after(ms, resolve))
  }

  /** Never answers, or too late: what it says then is another answer to a call that was made again. */
  async #hang(): Promise<'late'> {
    const { late = 0 } = this.behaviour ?? WELL
    if (late === 0 || !this.#chance.is(late)) return new Promise<never>(() => undefined)
    const [least, most] = LATE_MS
    const ms = this.#chance.between(least, most)
    await new Promise<void>((resolve) => void this.#loop.after(ms, resolve))
    return 'late'
  }
}

/** As whoever acts outside makes them: a sensor and an actuator of one act. */
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
