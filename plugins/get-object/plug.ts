/** A sensor that reads an object as JSON or text. */
import { AppError, definePlug, type ObjectPort, requireService } from '#plug'

/** maximum bytes, because raw data is stored with its task */
const MAX_BYTES = 262_144

export function getObjectPlug(objects?: ObjectPort) {
  return definePlug({
    name: 'getObject',
    version: '1.0.0',
    kind: 'sensor',
    description: `The content of an object of at most ${MAX_BYTES} bytes. Fails for one that is larger, or not UTF-8 text.`,
    category: 'Objects',
    parameters: [],
    states: ['Found', 'Not Found'],
    input: {
      path: { type: 'string', mandatory: true, description: 'the path in the bucket', example: 'limits/boiler-1.json' },
      bucket: { type: 'string', defaultValue: 'assets', description: 'the bucket', example: 'assets' },
      as: {
        type: 'string',
        defaultValue: 'auto',
        format: { type: 'enum', values: ['auto', 'json', 'text'] },
        description: 'json: fails when it is not JSON; text: unchanged; auto: JSON when its type or name indicates it',
        example: 'json',
      },
    },
    output: {
      data: { type: 'any', description: 'the content: parsed when it is JSON, otherwise text' },
      object: { type: 'object', description: 'bucket, path, etag, size, contentType, modified and metadata' },
    },
    async execute({ properties: { bucket, path, as } }) {
      const found = await requireService(objects, 'objects').get(bucket, path, MAX_BYTES)
      if (found === undefined) return { state: 'Not Found', rawData: {} }
      const { object, text } = found
      const isJson = as === 'json' || (as === 'auto' && (path.endsWith('.json') || isJsonType(object['contentType'])))
      return { state: 'Found', rawData: { data: isJson ? parsed(path, text) : text, object } }
    },
  })
}

function isJsonType(type: unknown): boolean {
  return typeof type === 'string' && /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('PLUG_FAILED', `${path} is not valid JSON; set as to text to read it unchanged`)
  }
}
