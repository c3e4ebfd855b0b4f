import { MemoryBroker } from './memory-broker.ts'
import { portSuite } from './port-suite.ts'

portSuite('memory', async () => new MemoryBroker())
