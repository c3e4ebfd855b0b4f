/** A sensor and an actuator that write an object. */
import { actingPlugs, AppError, causeOf, type ObjectPort, requireService, touching } from '#plug'

/** maximum number of characters */
const MAX_CHARACTERS = 1_000_000

export function putObjectPlugs(objects?: ObjectPort) {
  return actingPlugs({
    name: 'putObject',
    version: '1.0.0',
    category: 'Objects',
    description: 'Creates or replaces an object in a bucket',
    input: {
      path: {
        type: 'string',
        mandatory: true,
        description: 'the path in the bucket',
        example: 'reports/boiler-1.json',
      },
      bucket: { type: 'string', defaultValue: 'assets', description: 'the bucket', example: 'assets' },
      content: {
        type: 'any',
        mandatory: true,
        description: 'content: text; other values are stored as JSON',
        example: { hot: true },
      },
      contentType: {
        type: 'string',
        description: 'default: text/plain in UTF-8 for text, otherwise application/json',
        example: 'text/csv',
      },
    },
    touches: ({ bucket, path }) => touching('object', path === undefined ? undefined : `${bucket}/${path}`),
    output: { object: { type: 'object', description: 'bucket, path, etag, size, contentType and modified' } },
    async perform(context) {
      const { path, bucket, content, contentType } = context.properties
      const isText = typeof content === 'string'
      const text = isText ? content : JSON.stringify(content)
      if (text.length > MAX_CHARACTERS) {
        throw new AppError(
          'PLUG_FAILED',
          `the content has ${text.length} characters, more than the limit of ${MAX_CHARACTERS}`,
        )
      }
      const type = contentType ?? (isText ? 'text/plain; charset=utf-8' : 'application/json')
      const port = requireService(objects, 'objects')
      const object = await port.put(bucket, path, text, { contentType: type }, causeOf(context))
      return { message: `wrote ${path} of ${bucket}`, rawData: { object } }
    },
  })
}
