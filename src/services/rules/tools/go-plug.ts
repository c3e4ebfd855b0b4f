/** The plug that starts one node alone: a sensor that is always in the state `GO`. */
import { definePlug } from '#core'

export const GO = definePlug({
  name: 'GoOnce',
  version: '1.0.0',
  kind: 'sensor',
  states: ['GO'],
  execute: () => 'GO',
})
