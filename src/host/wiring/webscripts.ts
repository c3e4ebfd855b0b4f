/** Lets plugs use webscripts. */
import type { WebscriptPort } from '#core'
import { AppError } from '#kernel'
import { answerText, type InternalWebscripts } from '#services/webscripts/contract'

/** Maximum number of characters that plugs read from an answer */
const MAX_TEXT = 1_000_000

/** Creates the port for a tenant's plugs, which call private webscripts without a secret. */
export function webscriptPort(webscripts: () => InternalWebscripts | undefined): WebscriptPort {
  return {
    call: async ({ name, version, method, path, query, body }, { effect, hops, root }, signal) => {
      const service = webscripts()
      if (service === undefined) throw new AppError('CLOSED', 'this host does not serve webscripts')
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
      const answered = await answerText(answer, MAX_TEXT + 1)
      if (answered.length > MAX_TEXT)
        throw new AppError('TOO_LARGE', `the response of the webscript has more than ${MAX_TEXT} characters`)
      return { status: answer.status, data: dataOf(answered) }
    },
  }
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
