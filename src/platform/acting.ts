/** Remembers for whom asynchronous work is done. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Actor } from '#kernel'

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

/** Runs work for an actor. The returned function ends its scope, also for work that was begun in it and continues. */
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
