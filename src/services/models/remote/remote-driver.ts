/**
 * Runs models on remote servers. Checks each model before its first call, and batches pending calls. When a server is
 * unreachable, its pending calls fail at once, without affecting other models.
 */
import { AppError } from '#kernel'
import { CallBatcher } from '../call-batcher.ts'
import { isAway, type ModelDriver, type OpenModel } from '../driver.ts'
import { REMOTE_PROTOCOLS } from '../frameworks.ts'
import { openV1 } from './protocol-v1.ts'
import { openV2 } from './protocol-v2.ts'
import { type OpenRemote, RemoteServer, type RemoteServerOptions } from './remote-server.ts'

/** most requests in flight per model */
const PARALLEL = 4

const PROTOCOLS = { v1: openV1, v2: openV2 }

export interface RemoteDriverOptions extends RemoteServerOptions {
  readonly breathe: () => Promise<void>
}

export function remoteDriver(options: RemoteDriverOptions): ModelDriver {
  const servers = new Set<RemoteServer>()
  return {
    name: 'remote',
    refuses: ({ remote }) => Promise.resolve(remote === undefined ? 'it runs models of other servers' : undefined),
    open: async (model) => {
      if (model.remote === undefined) throw new AppError('UNSUPPORTED', 'the model is not on a server')
      const server = new RemoteServer(options, model.remote)
      servers.add(server)
      const close = (): void => {
        server.close()
        servers.delete(server)
      }
      try {
        return openModel(await PROTOCOLS[model.remote.protocol](server, model), options, close)
      } catch (error) {
        close()
        throw error
      }
    },
    runtimes: () =>
      Promise.resolve(
        REMOTE_PROTOCOLS.map((protocol) => ({
          name: `remote-${protocol}`,
          driver: 'remote',
          framework: 'custom',
          framework_version: protocol,
        })),
      ),
    close: () => {
      for (const server of servers) server.close()
      return Promise.resolve()
    },
  }
}

function openModel({ signatures, call }: OpenRemote, { breathe }: RemoteDriverOptions, close: () => void): OpenModel {
  const batcher = new CallBatcher({ send: call, breathe, parallel: PARALLEL, isOfAll })
  return {
    signatures,
    warnings: [],
    call: (one) => batcher.call(one),
    close: () => Promise.resolve(close()),
  }
}

function isOfAll(error: unknown): boolean {
  return isAway(error) || (error instanceof AppError && error.code === 'CLOSED')
}
