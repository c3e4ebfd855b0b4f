/** Lets plugs use objects, and reports changes of objects to the engine. */
import { AppError, MAX_HOPS } from '#kernel'
import type { Cause, PlainObject } from '#core/spi'
import type { ObjectPort } from '#core'
import type { ObjectCause, ObjectForwarding, ObjectRecord } from '#services/objects/contract'
import type { Objects } from '#services/objects'

const ENGINE = 'system/engine'
const CHANNEL = 'object'

/** Creates the port for a tenant's plugs, with the rights of users. */
export function objectPort(tenant: string, objects: () => Objects | undefined): ObjectPort {
  const api = () => {
    const service = objects()
    if (service === undefined) throw new AppError('CLOSED', 'this host does not serve objects')
    return service.as({ tenant, user: ENGINE })
  }
  return {
    get: async (bucket, path, most) => {
      let record: ObjectRecord
      try {
        const entry = await api().stat(bucket, path)
        if ('isFolder' in entry) return undefined
        record = entry
      } catch (error) {
        if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
        throw error
      }
      if (record.size > most) {
        throw new AppError('TOO_LARGE', `${path} has ${record.size} bytes, more than the ${most} that rules can read`)
      }
      const pieces: Uint8Array[] = []
      for await (const piece of await api().read(record)) pieces.push(piece)
      return { object: shown(record), text: textOf(pieces) }
    },
    put: async (bucket, path, text, { contentType }, cause) => {
      const { hops } = cause
      if (hops > MAX_HOPS) {
        throw new AppError(
          'TOO_LARGE',
          `${hops} rules in a row led to this change of ${path}; break the loop of rules; the limit is ${MAX_HOPS}`,
        )
      }
      const content = new TextEncoder().encode(text)
      return shown(await api().put(bucket, path, content, { contentType, cause: causeOf(cause) }))
    },
  }
}

export interface ObjectIntake {
  receive(
    posts: readonly {
      readonly messages: PlainObject & { readonly resource: string }
      readonly hops: number
      readonly root?: string
      readonly channel: string
    }[],
    writes: Parameters<ObjectForwarding['receive']>[1],
  ): Promise<unknown>
}

export function objectForwarding(intake: ObjectIntake): ObjectForwarding {
  return {
    receive: ({ event, object, time, cause }, writes) => {
      const message = { resource: object.bucket, timestamp: time, event, object: shown(object) }
      const { hops = 0, root } = cause ?? {}
      const post = { messages: message, hops, channel: CHANNEL, ...(root !== undefined && { root }) }
      return intake.receive([post], writes)
    },
  }
}

function shown({ bucket, path, etag, size, contentType, modified, metadata }: ObjectRecord): PlainObject {
  return { bucket, path, etag, size, contentType, modified, ...(metadata && { metadata }) }
}

function causeOf({ task, node, effect, trigger, hops, root, unordered }: Cause): ObjectCause {
  return {
    task,
    node,
    effect,
    hops,
    ...(trigger !== undefined && { trigger }),
    ...(root !== undefined && { root }),
    ...(unordered !== undefined && { unordered }),
  }
}

function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode()
  } catch {
    throw new AppError('VALIDATION', 'the object is not text in UTF-8')
  }
}
