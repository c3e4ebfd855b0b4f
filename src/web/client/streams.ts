/** Answers that go on, read as they come. */
import type { ServerEvent } from '../send-stream.ts'

/** One value per line of JSON. */
export async function* jsonLines(response: Response): AsyncGenerator {
  for await (const line of lines(response)) if (line !== '') yield JSON.parse(line) as unknown
}

/** Server-sent events with JSON as data; comments are passed over. */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  for await (const { data, ...event } of textEvents(response)) yield { ...event, data: JSON.parse(data) as unknown }
}

/** Server-sent events with their data as text. */
export async function* textEvents(response: Response): AsyncGenerator<ServerEvent & { readonly data: string }> {
  let id: string | undefined
  let event: string | undefined
  let data = ''
  for await (const line of lines(response)) {
    if (line.startsWith('id: ')) id = line.slice('id: '.length)
    else if (line.startsWith('event: ')) event = line.slice('event: '.length)
    else if (line.startsWith('data: ')) data += line.slice('data: '.length)
    else if (line === '' && data !== '') {
      yield {
        ...(id !== undefined && { id }),
        ...(event !== undefined && { event }),
        data,
      }
      event = undefined
      data = ''
    }
  }
}

async function* lines(response: Response): AsyncGenerator<string> {
  const { body } = response
  if (body === null) return
  const decoder = new TextDecoder()
  let rest = ''
  // typed as any in the platform's own declarations
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
  if (rest !== '') yield rest
}
