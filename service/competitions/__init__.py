"""Live competitions between members. They share the fairness of rounds, but have rows and messages of their own."""
