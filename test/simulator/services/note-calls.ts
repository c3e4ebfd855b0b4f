/** Checks the calls of the note plug: made once, in order, and with the full time that a call may take. */
import type { Note } from '../world/note-plug.ts'
import type { World } from '../world/world.ts'
import type { SentMessage } from './simulated-service.ts'

/** ms that a call may take */
export const NOTE_LIMIT_MS = 20_000
/** ms within which a finished call is durable, if the store is well */
const WRITTEN_MS = 5000
/** ms of its limit that a call may lose to causes that nothing detects at once, such as a slow store */
const UNNOTICED_MS = 7000

interface NotingTask {
  readonly tenant: string
  readonly id: string
  readonly until: number
}

/** Messages on which a task certainly acts, and those on which it may act. */
export interface Inputs {
  readonly certain: readonly SentMessage[]
  readonly possible: readonly SentMessage[]
}

export function verifyNotes(world: World, task: NotingTask, inputs: Inputs): void {
  const notes = world.notes.list.filter((note) => note.task === task.id)
  const calls = callsOf(world, notes)
  verifyActs(world, task, notes, inputs)
  if (!world.wasSlow) verifyRepeats(world, calls)
  if (task.until < Infinity) return
  verifyLimits(world, task.tenant, calls)
  verifyOrder(world, task, notes, inputs.certain)
}

function verifyActs(world: World, { id }: NotingTask, notes: readonly Note[], { certain, possible }: Inputs): void {
  const byNumber = new Map<number, Map<string, number>>()
  for (const { n, effect, doneAt, lateAt } of notes) {
    const effects = byNumber.get(n) ?? new Map<string, number>()
    effects.set(effect, (effects.get(effect) ?? 0) + ((doneAt ?? lateAt) === undefined ? 0 : 1))
    byNumber.set(n, effects)
  }
  const allowed = new Map(possible.map((one) => [one.n, one.attempts]))
  for (const [n, effects] of byNumber) {
    const most = allowed.get(n) ?? 0
    if (effects.size > most) {
      const text = `task ${id} acted ${effects.size} times on message ${n}, at most ${most} are right: ${[...effects.keys()].join(', ')}`
      world.find('acts once', text)
    }
  }
  for (const { n } of certain) {
    const done = [...(byNumber.get(n)?.values() ?? [])].filter((count) => count > 0).length
    if (done < 1) world.find('acts once', `task ${id} never acted on message ${n}`)
  }
}

/**
 * Checks that a successful call is repeated only if the host died just then, or if the result was not durable within
 * the call's limit. A result after the call's time may have expired counts for nothing. That time may expire early in a
 * host's next life, if little of it was left or the clock was set.
 */
function verifyRepeats(world: World, calls: readonly Call[]): void {
  const done = new Map<string, Note>()
  for (const { note, hadBefore } of calls) {
    const { effect, life, at, doneAt } = note
    const before = done.get(effect)
    if (before?.life === life && doneAt !== undefined)
      world.find('acts once', `effect ${effect} was done twice in one life of the host`)
    if (before !== undefined && world.notes.endOf(before.life) - (before.doneAt ?? Infinity) > WRITTEN_MS)
      world.find('acts once', `effect ${effect} was done long before the host died, and called again at ${at}`)
    if (doneAt === undefined) continue
    if (hadBefore + doneAt - at + world.leaptWithin(at, doneAt) < NOTE_LIMIT_MS) done.set(effect, note)
  }
}

interface Call {
  readonly note: Note
  /** ms of its time that the call may have used in earlier lives of the host */
  readonly hadBefore: number
}

function callsOf(world: World, notes: readonly Note[]): readonly Call[] {
  const calls: Call[] = []
  for (const note of notes) {
    const before = calls.filter((one) => one.note.effect === note.effect)
    const life = before.at(-1)?.note.life
    const isCarried = life !== undefined && life !== note.life
    const ofLife = isCarried ? before.filter((one) => one.note.life === life) : []
    calls.push({ note, hadBefore: timeUntilDeath(world, ofLife) })
  }
  return calls
}

/**
 * Returns the most time that may have counted for a call that continues after a host life: the last call, or one before
 * it if the last one may not be stored. Time of store trouble did not count, if that was stored before the host died.
 */
function timeUntilDeath(world: World, calls: readonly Call[]): number {
  let most = 0
  for (const { note, hadBefore } of calls.toReversed()) {
    const end = world.notes.endOf(note.life)
    const isWritten = world.wellWithin(note.at, end) >= WRITTEN_MS
    const isOver = note.hasFailed === true && isWritten
    if (!isOver) most = Math.max(most, hadBefore + world.leaptWithin(note.at, end) + end - note.at)
    if (isWritten) break
  }
  return most
}

/**
 * Checks that a call that did not fail is repeated only after using all of its time, except time of store trouble. A
 * call interrupted by the host's death has its remaining time in the next life.
 */
function verifyLimits(world: World, tenant: string, calls: readonly Call[]): void {
  const last = new Map<string, Call>()
  for (const call of calls) {
    const { note } = call
    const before = last.get(note.effect)
    last.set(note.effect, call)
    if (before === undefined || before.note.life !== note.life || before.note.hasFailed === true) continue
    const { hadBefore } = before
    const time = { tenant, from: before.note.at, to: note.at, limitMs: NOTE_LIMIT_MS, hadBefore }
    const had = hadBefore + world.countedWithin(time)
    if (had < NOTE_LIMIT_MS - UNNOTICED_MS) {
      const text = `effect ${note.effect}, called at ${before.note.at}, was called again at ${note.at}, after ${had} ms of its time`
      world.find('a call has its time', text)
    }
  }
}

function verifyOrder(world: World, task: NotingTask, notes: readonly Note[], certain: readonly SentMessage[]): void {
  const done = new Map<number, number>()
  for (const { n, doneAt } of notes) if (doneAt !== undefined) done.set(n, Math.min(done.get(n) ?? Infinity, doneAt))
  for (const first of certain) {
    for (const second of certain) {
      if ((first.ackedAt ?? Infinity) >= second.sentAt) continue
      const [before, after] = [done.get(first.n), done.get(second.n)]
      if (before === undefined || after === undefined || before <= after) continue
      const text = `task ${task.id} acted on message ${second.n} before ${first.n}, which was acknowledged before the other was sent`
      world.find('order', text)
    }
  }
}
