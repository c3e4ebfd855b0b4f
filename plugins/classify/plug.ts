/** A sensor that asks a hosted model which class an instance belongs to. */
import { type DataPort, definePlug, type ModelPort, type Plug, requireService, textList } from '#plug'
import { FEATURE_INPUT, featuresOf } from '../predict/features.ts'

/** A sensor whose state is whether the most likely class is one of those that are looked for. */
export function classifyPlug(models?: ModelPort, data?: DataPort): Plug {
  return definePlug({
    name: 'classify',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'Asks a hosted model for the class of one instance: Match when the most likely label is one of labels, else No Match; Uncertain when its score is below minimum. It fails when the model cannot be asked.',
    category: 'Models',
    parameters: [],
    states: ['Match', 'No Match', 'Uncertain'],
    input: {
      ...FEATURE_INPUT,
      labels: {
        type: 'any',
        mandatory: true,
        description: 'labels that are looked for: a list, or a text with commas between them',
        example: ['hot'],
      },
      names: {
        type: 'array',
        description: 'names of the classes in their order, for a model that answers with numbers',
        example: ['cold', 'hot'],
      },
      minimum: { type: 'double', defaultValue: 0, description: 'the least score that says anything', example: 0.5 },
    },
    output: {
      label: { type: 'string', description: 'the most likely one' },
      score: { type: 'double', description: 'its score' },
      labels: { type: 'array', description: 'labels with their scores, the highest first, at most 20' },
      model: { type: 'string', description: 'its name' },
    },
    async execute(context) {
      const { model, probabilities, labels, names = [], minimum } = context.properties
      const features = await featuresOf(context, data)
      const found = await requireService(models, 'models').classify({ model, features, probabilities })
      const named = found.slice(0, MAX_LABELS).map(([label, score]) => [nameOf(label, names), score] as const)
      const [[label, score] = ['', 0]] = named
      const state = score < minimum ? 'Uncertain' : textList(labels).includes(label) ? 'Match' : 'No Match'
      return { state, rawData: { label, score, labels: named, model } }
    },
  })
}

const MAX_LABELS = 20

/** A label that is a number is the place of a name, where there are names. */
function nameOf(label: string, names: readonly unknown[]): string {
  const name = /^\d{1,4}$/.test(label) ? names[Number(label)] : undefined
  return typeof name === 'string' ? name : label
}
