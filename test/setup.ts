// First of all imports of every test: loaded later, from a CommonJS package that requires Nest, these would form a cycle.
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import '@nestjs/core';

// Tests provoke what is worth a log line; only their own results should be read.
Logger.overrideLogger(false);
