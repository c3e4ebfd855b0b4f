/** Checks names of tenants, and builds errors for closed or outdated media. */
import { AppError, kindOf } from '#kernel'

const TENANT = /^[a-zA-Z0-9._-]{1,64}$/

/** Throws `VALIDATION` for an invalid name. `.`, `..` and `__proto__` are valid, so media must handle them. */
export function checkTenant(id: string): void {
  if (typeof id === 'string' && TENANT.test(id)) return
  const shown = typeof id === 'string' ? JSON.stringify(id.slice(0, 80)) : kindOf(id)
  throw new AppError('VALIDATION', `${shown} is not a valid name of a tenant; use 1 to 64 of a-z A-Z 0-9 . _ -`)
}

export function closedError(): AppError {
  return new AppError('CLOSED', 'The store is closed; open it again to read or write')
}

export function newerError(collection: string, stored: number, known: number): AppError {
  return new AppError(
    'STORE',
    `The collection ${collection} was written by specification ${stored}, this program reads ${known}; start a version that is as new as the data`,
  )
}
