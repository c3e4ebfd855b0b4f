/**
 * Limits what rules do to the rights of their author.
 *
 * RIGHTS-1 a plug's call of a service needs the scope that the same request needs over HTTP
 * RIGHTS-2 a task acts with the rights that the author of its version had then; a run that stores nothing, with those
 *   of its caller
 */
import type { PlugServices } from '#core'
import { AppError, hasScope, type Rights, type Scope } from '#kernel'
import { actingWith, currentRights } from '#platform'
import type { Plug } from '#plug'

type Needed = {
  readonly [Port in keyof PlugServices]-?: {
    readonly [Method in keyof NonNullable<PlugServices[Port]>]-?: readonly Scope[]
  }
}

const READ: readonly Scope[] = ['read']
const OPERATE: readonly Scope[] = ['operate']
/** Checks depend only on their arguments. */
const NONE: readonly Scope[] = []

const NEEDED: Needed = {
  alarms: { raise: OPERATE, update: OPERATE, clear: OPERATE, latest: READ, find: READ, check: NONE },
  resources: { patch: OPERATE, get: READ, children: READ, find: READ, checkPatch: NONE },
  data: {
    post: ['operate', 'device'],
    command: OPERATE,
    messages: READ,
    latest: READ,
    series: READ,
    checkMessage: NONE,
    checkCommand: NONE,
  },
  queries: { execute: READ, check: NONE },
  webscripts: { call: OPERATE },
  models: { predict: OPERATE, classify: OPERATE },
  objects: { put: OPERATE, get: READ },
}

type Method = (...given: unknown[]) => unknown

/** Returns the services, whose methods reject with `FORBIDDEN` when the running rule lacks the scope. */
export function withinRights(services: PlugServices): PlugServices {
  const ports = Object.entries(services as Readonly<Record<string, Readonly<Record<string, Method>>>>)
  const table = NEEDED as Readonly<Record<string, Readonly<Record<string, readonly Scope[]>>>>
  return Object.fromEntries(
    ports.map(([port, methods]) => [
      port,
      Object.fromEntries(
        Object.entries(methods).map(([name, method]) => {
          const scopes = table[port]?.[name] ?? (['admin'] as const)
          return [name, scopes.length === 0 ? method : guarded(`${port}.${name}`, scopes, method)]
        }),
      ),
    ]),
  )
}

function guarded(name: string, scopes: readonly Scope[], method: Method): Method {
  return (...given) => {
    const rights = currentRights()
    if (rights === undefined || scopes.some((scope) => hasScope(rights, scope))) return method(...given)
    return Promise.reject(lacking(name, scopes, rights))
  }
}

function lacking(name: string, needed: readonly Scope[], { scopes }: Rights): AppError {
  const own = scopes.length === 0 ? 'none' : scopes.join(', ')
  return new AppError(
    'FORBIDDEN',
    `${name} needs the scope ${needed.join(' or ')}, and the key that made this rule had ${own}; save the rule with a key that has it`,
  )
}

/** Makes a plug act with the rights of the task that runs it. */
export function asTask(plug: Plug, rightsOf: (task: string) => Rights | undefined): Plug {
  const execute: Plug['execute'] = (context) => actingWith(rightsOf(context.task.TASK_ID), () => plug.execute(context))
  // a recovery recognizes calls that take time by their functions
  const isAsync = plug.execute.constructor.name === 'AsyncFunction'
  return { ...plug, execute: isAsync ? async (context) => execute(context) : execute }
}
