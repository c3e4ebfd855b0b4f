/** Reads forms of several parts, each of which is JSON, by what the platform has for it. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '#kernel'
import { bodyText, FORM_TYPE, formEntries, Payload } from '#services/shared'

const MAX_PARTS = 10

/** The parts of a form by name. */
export class Form {
  readonly parts: ReadonlyMap<string, unknown>

  constructor(parts: ReadonlyMap<string, unknown>) {
    this.parts = parts
  }
}

/** The body of a request of that type becomes a `Form`. */
export function readForms(app: FastifyInstance): void {
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    return new Form(await partsOf(request.headers['content-type'] ?? '', bytes))
  })
}

async function partsOf(type: string, bytes: Buffer): Promise<ReadonlyMap<string, unknown>> {
  const entries = await formEntries(type, bytes)
  const parts = new Map<string, unknown>()
  for (const [name, value] of entries) {
    if (parts.size >= MAX_PARTS) throw new AppError('VALIDATION', `a form has at most ${MAX_PARTS} parts`)
    if (parts.has(name)) throw new AppError('VALIDATION', `the part "${name.slice(0, 80)}" is there twice`)
    const text = typeof value === 'string' ? value : bodyText(Buffer.from(await value.arrayBuffer()))
    // a topic is a text by itself; all others are JSON
    parts.set(name, name === 'topic' ? text : new Payload(text))
  }
  return parts
}

/** A part of a form; of JSON it is what `ofJson` gives. Throws `VALIDATION` when the part is missing. */
export function partOf(body: unknown, name: string, ofJson: (body: unknown) => unknown): unknown {
  if (!(body instanceof Form)) return ofJson(body)
  if (!body.parts.has(name)) throw new AppError('VALIDATION', `the part "${name}" is missing`)
  return body.parts.get(name)
}
