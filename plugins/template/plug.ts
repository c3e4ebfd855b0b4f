/** A sensor that inserts raw data of nodes into a text. */
import { definePlug } from '#plug'

export const template = definePlug({
  name: 'template',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Fills raw data of nodes into a text.',
  category: 'Data',
  parameters: [],
  states: ['Success', 'Error'],
  input: {
    template: {
      type: 'string',
      mandatory: true,
      format: { type: 'template' },
      description:
        'the text; {{<label>.<field>}} is replaced by raw data of a node, escaped for HTML unless {{{in three}}}, with the blocks of handlebars',
      example: 'the temperature is {{stream_1.stream.temperature}}',
    },
  },
  output: { result: { type: 'string', description: 'the rendered text' } },
  // the engine renders fields of this format before each call
  execute: ({ properties }) => ({ state: 'Success', rawData: { result: properties.template } }),
})
