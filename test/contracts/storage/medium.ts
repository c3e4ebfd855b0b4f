/**
 * What a storage medium gives a conformance suite, and how the suites' facts run over it.
 * A suite opens one medium for all of its facts and gives each a tenant of its own; facts about opening, closing and
 * figures open one alone.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError, type ErrorCode } from '../../../src/kernel/errors.ts'
import type { Collection, Log, Series, Storage, Store } from '../../../src/storage/contract.ts'
import { THINGS, type Thing } from './things.ts'

export interface Medium<S extends Closable = Storage> {
  /** A new and empty medium. What it takes for now (expiry, `modified`) is `clock()`, epoch ms: the suite moves it. */
  open(setup: { readonly clock: () => number }): Promise<Opened<S>>
  /** Facts that this medium cannot hold, by their name, and why. */
  readonly skips?: Readonly<Record<string, string>>
}

export interface Opened<S extends Closable = Storage> {
  readonly storage: S
  /** Closes what is open and opens it again over the same data. */
  reopen(): Promise<S>
  /** Closes what is open and leaves nothing behind. */
  destroy(): Promise<void>
}

export interface Closable {
  close(): Promise<void>
}

/** The time that a medium sees. */
export interface SuiteClock {
  now: number
}

export const START = 1_700_000_000_000

export interface Suite<S extends Closable> {
  /** A fact over a medium that other facts use too, with a tenant name of its own. */
  fact(name: string, check: (world: World<S>) => Promise<void>): void
  /** A fact over a medium of its own. */
  alone(name: string, check: (opened: Opened<S>, clock: SuiteClock) => Promise<void>): void
}

export interface World<S extends Closable> {
  readonly storage: S
  /** a tenant that nobody else uses */
  readonly tenant: string
  readonly clock: SuiteClock
}

/** Defines a suite's facts over a medium. */
export function describeMedium<S extends Closable>(
  title: string,
  medium: Medium<S>,
  define: (suite: Suite<S>) => void,
): void {
  describe(title, () => {
    const clock: SuiteClock = { now: START }
    let opened: Opened<S> | undefined
    let tenants = 0
    beforeAll(async () => {
      opened = await medium.open({ clock: () => clock.now })
    })
    afterAll(() => opened?.destroy())

    const run = (name: string, mustRun: () => Promise<void>) => {
      const reason = medium.skips?.[name]
      it(name, async ({ skip }) => {
        if (reason !== undefined) skip(reason)
        await mustRun()
      })
    }
    define({
      fact: (name, check) =>
        run(name, async () => {
          if (opened === undefined) throw new Error('the medium did not open')
          clock.now = START
          tenants += 1
          await check({ storage: opened.storage, tenant: `tenant-${tenants}`, clock })
        }),
      alone: (name, check) =>
        run(name, async () => {
          const own: SuiteClock = { now: START }
          const alone = await medium.open({ clock: () => own.now })
          try {
            await check(alone, own)
          } finally {
            await alone.destroy()
          }
        }),
    })
  })
}

export interface StoreWorld extends World<Storage> {
  readonly store: Store
  readonly things: Collection<Thing>
  readonly log: Log
  readonly series: Series
}

/** A suite's facts about one store: that of a tenant of the fact's own. */
export function storeFact(suite: Suite<Storage>): (name: string, check: (world: StoreWorld) => Promise<void>) => void {
  return (name, check) =>
    suite.fact(name, (world) => {
      const store = world.storage.tenant(world.tenant)
      const [things, log] = [store.collection(THINGS), store.log('inputs')]
      return check({ ...world, store, series: store.series, things, log })
    })
}

/** The AppError that something rejects with or throws; fails when there is none, or it is no AppError. */
export async function failureOf(act: () => unknown): Promise<AppError> {
  try {
    await act()
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown
    throw new Error(`not an AppError: ${String(thrown)}`, { cause: thrown })
  }
  throw new Error('nothing was thrown')
}

/** Asks that something fails with a code, and that its text says more than the code. */
export async function expectCode(act: () => unknown, code: ErrorCode, about?: string): Promise<void> {
  const failure = await failureOf(act)
  expect(`${failure.code}: ${about ?? failure.message}`).toBe(`${code}: ${about ?? failure.message}`)
  expect(failure.message.length).toBeGreaterThan(10)
}
