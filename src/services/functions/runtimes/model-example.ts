/** The example of the runtimes of models: a booster of two features, small enough to be read. */

/** 0.5 a degree, and 2 an hour above the first: as `save_model` of a linear Booster writes it. */
const BOOSTER = {
  learner: {
    attributes: {},
    feature_names: ['heat', 'hours'],
    feature_types: [],
    gradient_booster: { model: { boosted_rounds: 1, weights: [0.5, 2, -2] }, name: 'gblinear' },
    learner_model_param: {
      base_score: '[0E0]',
      boost_from_average: '1',
      num_class: '0',
      num_feature: '2',
      num_target: '1',
    },
    objective: { name: 'reg:squarederror', reg_loss_param: { scale_pos_weight: '1' } },
  },
  version: [3, 2, 0],
}

export const MODEL_EXAMPLE = {
  'model.json': `${JSON.stringify(
    {
      name: 'wear',
      version: '1.0.0',
      runtime: 'byoml-xgboost',
      metadata: { description: 'How worn a machine is by its heat and its hours' },
    },
    undefined,
    2,
  )}\n`,
  'model.bst': `${JSON.stringify(BOOSTER)}\n`,
}
