/** Adapts webscripts to the port of plugs. */
import type { WebscriptPort } from '#core'
import { AppError } from '#kernel'
import type { InternalWebscripts, ScriptAnswer } from '#services/webscripts/contract'

/** characters of an answer that plugs read */
const MAX_TEXT = 1_000_000

/** The port of a tenant's plugs, which call private webscripts without a secret. */
export function webscriptPort(webscripts: () => InternalWebscripts | undefined): WebscriptPort {
  return {
    call: async ({ name, version, method, path, query, body }, { effect, hops, root }, signal) => {
      const service = webscripts()
      if (service === undefined) throw new AppError('CLOSED', 'this host serves no webscripts')
      const script = service.choose(name, version)
      if (script === undefined) throw new AppError('NOT_FOUND', `webscript ${name.slice(0, 100)} does not exist`)
      service.admit()
      const isText = typeof body === 'string'
      const text = body === undefined ? '' : isText ? body : JSON.stringify(body)
      const type = isText ? 'text/plain; charset=utf-8' : 'application/json'
      const answer = await service.call(script, {
        method,
        path,
        query: new URLSearchParams(query).toString(),
        headers: [...(body === undefined ? [] : [['content-type', type] as const]), ['idempotency-key', effect]],
        body: new TextEncoder().encode(text),
        signal,
        causation: { hops, ...(root !== undefined && { root }) },
      })
      return { status: answer.status, data: dataOf(await textOf(answer)) }
    },
  }
}

async function textOf({ body }: ScriptAnswer): Promise<string> {
  if (typeof body === 'string') return bounded(body)
  if (body instanceof Uint8Array) return bounded(new TextDecoder().decode(body))
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) {
    text = bounded(text + decoder.decode(piece, { stream: true }))
  }
  return text
}

function bounded(text: string): string {
  if (text.length <= MAX_TEXT) return text
  throw new AppError('TOO_LARGE', `the webscript answered with more than ${MAX_TEXT} characters`)
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
