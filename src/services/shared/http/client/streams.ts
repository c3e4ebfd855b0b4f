/** Reads streamed responses of the API. */
import type { ServerEvent } from '../server-event.ts'

export async function* jsonLines(response: Response): AsyncGenerator {
  for await (const line of lines(response)) if (line !== '') yield JSON.parse(line) as unknown
}

/** Yields server-sent events with JSON data; skips comments and events without data. */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  for await (const { data, ...event } of textEvents(response))
    if (data !== '') yield { ...event, data: JSON.parse(data) as unknown }
}

/** Yields server-sent events with text data, parsed as the standard requires (WHATWG HTML, 9.2.6). */
export async function* textEvents(response: Response): AsyncGenerator<ServerEvent & { readonly data: string }> {
  let id: string | undefined
  let event = ''
  let data: string[] = []
  for await (const line of lines(response)) {
    if (line === '') {
      if (data.length > 0)
        yield { ...(id !== undefined && { id }), ...(event !== '' && { event }), data: data.join('\n') }
      event = ''
      data = []
      continue
    }
    const [field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)?.slice(1) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value
  }
}

async function* lines(response: Response): AsyncGenerator<string> {
  const { body } = response
  if (body === null) return
  const decoder = new TextDecoder()
  let rest = ''
  let isAfterCr = false
  // typed as any in Node's declarations
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(chunk, { stream: true })
    if (text === '') continue
    const parts = (rest + (isAfterCr && text.startsWith('\n') ? text.slice(1) : text)).split(/\r\n|\r|\n/)
    isAfterCr = text.endsWith('\r')
    rest = parts.pop() ?? ''
    yield* parts
  }
  if (rest !== '') yield rest
}
