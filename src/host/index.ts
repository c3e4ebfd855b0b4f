/** Entry `reflexarc/host`: provides the whole API as a plugin for an existing Fastify server. */
import type { FastifyInstance } from 'fastify'
import { firstPair } from './auth/first-pair.ts'
import type { KeyPair } from './auth/api-keys.ts'
import { compose, type HostOverrides } from './compose.ts'
import { readConfig, type Given } from './config.ts'
import type { Plug } from '#plug'
import { mount } from './mount.ts'
import { SERVICES } from './wiring/service-table.ts'

/**
 * Options of `reflexarc serve`, except those for listening and logging: `data`, `store`, `key`, `secret`, `tenant`,
 * `only`, `rateLimit`, `bodyLimit`, `timeLimit`, `jwks` ... Environment variables are ignored. A `prefix` puts all
 * routes below a path.
 */
export interface HostOptions extends Omit<
  Given,
  'port' | 'host' | 'logLevel' | 'empty' | 'trustProxy' | 'plugs' | 'metricsPort'
> {
  /** Your own plugs, made by `definePlug`, in addition to the built-in ones */
  readonly plugs?: readonly Plug[]
  readonly prefix?: string
  /** Whether an empty store receives the demo plant of `reflexarc serve`; default false */
  readonly demo?: boolean
  /** Called once with a newly generated first pair, whose secret is not stored. */
  readonly onFirstPair?: (pair: KeyPair) => void
}

/**
 * Mounts a host: `await app.register(host, { data: './data', prefix: '/rules' })`. The store opens when the server
 * becomes ready and closes with the server. Rejects with `USAGE`, `PLUG` or `STORE`.
 */
export function host(app: FastifyInstance, options: HostOptions): Promise<void> {
  return mountHost(app, options, {})
}

export async function mountHost(app: FastifyInstance, options: HostOptions, overrides: HostOverrides): Promise<void> {
  const { onFirstPair, prefix: _prefix, demo = false, plugs, ...given } = options
  const config = readConfig(given, {}, [...(overrides.services ?? SERVICES).keys()])
  const composed = await compose(config, { ...(plugs && { plugs: () => plugs }), ...overrides })
  app.addHook('onClose', () => composed.close())
  try {
    const first = await firstPair(composed.keyPairs, config)
    if (first.origin === 'made') {
      if (onFirstPair === undefined)
        app.log.warn('the first key pair was created, but `onFirstPair` is missing, so its secret is lost')
      else onFirstPair(first.pair)
    }
    await mount(app, { ...composed, alone: false })
    if (demo) await composed.openDemo((text) => app.log.info(text))
  } catch (error) {
    // if the server fails to start, its owner may never close it
    await composed.close()
    throw error
  }
}

export type { KeyPair } from './auth/api-keys.ts'

export { nodeTransport, type NodeTransportOptions } from './transport/node-transport.ts'
