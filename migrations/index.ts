// Every migration in the order they are applied. Forward only; one that has been merged is never edited.
import { CreateSchema20261120120000 } from './20261120120000-create-schema.js';
import { CreateCalls20261120120100 } from './20261120120100-create-calls.js';
import { CreateBillingFunctions20261120120200 } from './20261120120200-create-billing-functions.js';

export const migrations = [CreateSchema20261120120000, CreateCalls20261120120100, CreateBillingFunctions20261120120200];
