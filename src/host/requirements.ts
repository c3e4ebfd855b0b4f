/** Checks what a host needs beyond the engine: peer packages, and Node's SQLite. */
import { AppError } from '#kernel'
import { OPTIONS, type Environment, type Given } from './config.ts'
import { ownManifest } from './version.ts'

const ALWAYS = ['fastify', '@fastify/swagger', '@fastify/swagger-ui', '@fastify/websocket', 'prom-client'] as const
const NODE_WITH_SQLITE = 24

/** Resolves a package from here; throws when it is missing. */
export type Find = (name: string) => unknown

export function requirePackages(
  given: Given,
  env: Environment,
  find: Find = (name) => import.meta.resolve(name),
): void {
  const store = String(given.store ?? env[OPTIONS.store.env] ?? '')
  const mqtt = given.mqtt ?? (env[OPTIONS.mqtt.env] || undefined)
  const needed = [
    ...ALWAYS,
    ...(store.startsWith('postgres') ? ['pg'] : []),
    ...(mqtt === undefined ? [] : ['mqtt-packet']),
  ]
  const missing = needed.filter((name) => !isThere(name, find))
  if (missing.length === 0) return
  const { peerDependencies = {} } = ownManifest()
  const wanted = missing.map((name) => `${name}@${(peerDependencies[name] ?? 'latest').replace(/^\^(\d+).*$/, '$1')}`)
  throw new AppError('USAGE', `Packages of this host are missing: npm install ${wanted.join(' ')}`)
}

/** Throws `STORE` when Node's SQLite is missing or too old. `version`: as in `process.version`. */
export function requireSqlite(version: string = process.version): void {
  if (Number(/^v(\d+)/.exec(version)?.[1]) >= NODE_WITH_SQLITE) return
  throw new AppError(
    'STORE',
    `A host with a persistent store requires the SQLite of Node ${NODE_WITH_SQLITE} or newer, but this is Node ${version}; start it with a newer Node, or with --store memory:`,
  )
}

function isThere(name: string, find: Find): boolean {
  try {
    find(name)
    return true
  } catch {
    return false
  }
}
