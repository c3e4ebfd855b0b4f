/** Entry `reflexarc/host`: the whole API as a plugin for an existing Fastify server. */
import type { FastifyInstance } from 'fastify'
import { firstPair } from './auth/first-pair.ts'
import type { KeyPair } from './auth/api-keys.ts'
import { compose, type Making } from './compose.ts'
import { readConfig, type Given } from './config.ts'
import { makeDemos } from './demo.ts'
import type { Plug } from '#plug'
import { mount } from './mount.ts'
import { SERVICES } from './wiring/service-table.ts'

/**
 * Options of `reflexarc serve` except those of listening and logging: `data`, `store`, `key`, `secret`, `tenant`,
 * `only`, `rateLimit`, `bodyLimit`, `timeLimit`, `jwks` ... The environment is not read. A `prefix` puts all routes
 * below a path.
 */
export interface HostOptions extends Omit<Given, 'port' | 'host' | 'logLevel' | 'empty' | 'trustProxy' | 'plugs'> {
  /** Plugs of your own, made by `definePlug`, besides the built-in ones */
  readonly plugs?: readonly Plug[]
  readonly prefix?: string
  /** Whether an empty store receives the demo data of `reflexarc serve`; default false */
  readonly demo?: boolean
  /**
   * Called once with a newly made first pair, when none was configured and the store had none. Its secret is not
   * stored.
   */
  readonly onFirstPair?: (pair: KeyPair) => void
}

/**
 * `await app.register(host, { data: './data', prefix: '/rules' })`. Opens its store when the server becomes ready,
 * closes it with the server. Rejects with `USAGE`, `PLUG` or `STORE`.
 */
export function host(app: FastifyInstance, options: HostOptions): Promise<void> {
  return mountHost(app, options, {})
}

/** `host` with injected dependencies. */
export async function mountHost(app: FastifyInstance, options: HostOptions, making: Making): Promise<void> {
  const { onFirstPair, prefix: _prefix, demo = false, plugs, ...given } = options
  const config = readConfig(given, {}, [...(making.services ?? SERVICES).keys()])
  const composed = await compose(config, { ...(plugs && { plugs: () => plugs }), ...making })
  app.addHook('onClose', () => composed.close())
  try {
    const first = await firstPair(composed.keyPairs, config)
    if (first.origin === 'made') {
      if (onFirstPair === undefined)
        app.log.warn('a first key pair was made, but `onFirstPair` is missing: its secret is lost')
      else onFirstPair(first.pair)
    }
    await mount(app, { ...composed, alone: false })
    if (demo && composed.isNew) await makeDemos(composed.services, config.tenant)
  } catch (error) {
    // the owner of a server that failed to start may never close it
    await composed.close()
    throw error
  }
}

export type { KeyPair } from './auth/api-keys.ts'

export { nodeTransport, type NodeTransportOptions } from './transport/node-transport.ts'
