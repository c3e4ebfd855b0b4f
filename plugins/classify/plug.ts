/** A sensor that classifies an instance with a hosted model. */
import { type DataPort, definePlug, type ModelPort, requireService, textList } from '#plug'
import { FEATURE_INPUT, featuresOf } from '../predict/features.ts'

export function classifyPlug(models?: ModelPort, data?: DataPort) {
  return definePlug({
    name: 'classify',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'Classifies one instance with a hosted model: Match when the most likely label is one of labels, otherwise No Match; Uncertain when its score is below minimum. Fails when the model is unavailable.',
    category: 'Models',
    parameters: [],
    states: ['Match', 'No Match', 'Uncertain'],
    input: {
      ...FEATURE_INPUT,
      labels: {
        type: 'any',
        mandatory: true,
        description: 'labels to match: a list, or a text with commas',
        example: ['hot'],
      },
      names: {
        type: 'array',
        description: 'names of the classes in order, for a model that returns numbers',
        example: ['cold', 'hot'],
      },
      minimum: { type: 'double', defaultValue: 0, description: 'minimal score', example: 0.5 },
    },
    output: {
      label: { type: 'string', description: 'the most likely label' },
      score: { type: 'double', description: 'its score' },
      labels: { type: 'array', description: 'labels with their scores, highest first, at most 20' },
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

/** If names are given, a numeric label is an index. */
function nameOf(label: string, names: readonly unknown[]): string {
  const name = /^\d{1,4}$/.test(label) ? names[Number(label)] : undefined
  return typeof name === 'string' ? name : label
}
