/** A sensor that is ON after each run until an external push sets it to OFF. */
import { definePlug } from '#plug'

export const alwaysONWithOFF = definePlug({
  name: 'alwaysONWithOFF',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Is always ON when it runs; OFF can only be pushed from outside.',
  category: 'Test',
  parameters: [],
  states: ['ON', 'OFF'],
  execute: () => 'ON',
})
