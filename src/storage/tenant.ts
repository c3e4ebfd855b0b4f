/** Names of tenants, and what a medium answers when it is closed or too old. */
import { AppError, kindOf } from '#kernel'

const TENANT = /^[a-zA-Z0-9._-]{1,64}$/

/** Throws `VALIDATION` for what is no name of a tenant. The names `.`, `..` and `__proto__` are: media must not trip over them. */
export function checkTenant(id: string): void {
  if (typeof id === 'string' && TENANT.test(id)) return
  const shown = typeof id === 'string' ? JSON.stringify(id.slice(0, 80)) : kindOf(id)
  throw new AppError('VALIDATION', `${shown} is no name of a tenant; use 1 to 64 of a-z A-Z 0-9 . _ -`)
}

/** What everything of a medium answers once it is closed. */
export function closedError(): AppError {
  return new AppError('CLOSED', 'The store is closed; open it again to read or write')
}

/** What a medium answers about a collection that a newer version of the program wrote. */
export function newerError(collection: string, stored: number, known: number): AppError {
  return new AppError(
    'STORE',
    `The collection ${collection} was written by specification ${stored}, this program knows ${known}; start a program that is as new as the data`,
  )
}
