/** Tracks the actor of asynchronous work, and the rights with which rules call services. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Actor, Rights } from '#kernel'

interface Scope {
  readonly actor: Actor | undefined
  isOver: boolean
}

const scopes = new AsyncLocalStorage<Scope>()

/** Returns the actor of the running work; `undefined` for work of the host, such as that of rules. */
export function currentActor(): Actor | undefined {
  const scope = scopes.getStore()
  return scope === undefined || scope.isOver ? undefined : scope.actor
}

/** Runs work for an actor. The returned function ends the scope, also for work that was started in it and continues. */
export function actAs(actor: Actor | undefined, work: () => void): () => void {
  const scope: Scope = { actor, isOver: false }
  scopes.run(scope, work)
  return () => void (scope.isOver = true)
}

/** Runs work for an actor until it settles. */
export async function actingAs<T>(actor: Actor | undefined, work: () => Promise<T>): Promise<T> {
  const scope: Scope = { actor, isOver: false }
  try {
    return await scopes.run(scope, work)
  } finally {
    scope.isOver = true
  }
}

const limits = new AsyncLocalStorage<Rights | undefined>()

/** Returns the rights of the running rule; `undefined`: all rights. */
export function currentRights(): Rights | undefined {
  return limits.getStore()
}

/** Runs work of a rule with its rights. */
export function actingWith<T>(rights: Rights | undefined, work: () => T): T {
  return limits.run(rights, work)
}

/** Runs each step of an iteration with these rights, for any consumer. */
export async function* eachWith<T>(rights: Rights | undefined, steps: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = steps[Symbol.asyncIterator]()
  try {
    for (;;) {
      const step = await actingWith(rights, () => iterator.next())
      if (step.done === true) return
      yield step.value
    }
  } finally {
    await iterator.return?.()
  }
}

/** Returns the work bound to the current rights, for later calls from elsewhere. */
export function withRightsOfNow<Arguments extends unknown[], T>(work: (...args: Arguments) => T) {
  const rights = currentRights()
  return (...args: Arguments): T => actingWith(rights, () => work(...args))
}
